"""Seed functions on dates and times, without the standard library's. See ../build.py for the form."""
from seedlib import F, ints, pick

def ymd(r):
    return [r.choice([1900, 1999, 2000, 2023, 2024, 2100]), r.randint(1, 12), r.randint(1, 28)]

F("dates", "is_leap", "is_leap(year): every fourth year is a leap year, but of full centuries only every fourth.", '''
def is_leap(year):
    if year % 400 == 0:
        return True
    if year % 100 == 0:
        return False
    return year % 4 == 0
''', lambda r: (pick(r, [r.randint(1890, 2110), 100 * r.randint(15, 24), 4 * r.randint(450, 530)]),))

F("dates", "days_in_month", "days_in_month(year, month) in the Gregorian calendar; a month outside 1 to 12 raises ValueError.", '''
def days_in_month(year, month):
    if month < 1 or month > 12:
        raise ValueError("month")
    if month == 2:
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        return 29 if leap else 28
    if month in (4, 6, 9, 11):
        return 30
    return 31
''', lambda r: (pick(r, [1900, 2000, 2023, 2024, 2100]), pick(r, [2, r.randint(0, 13), r.randint(1, 12)])))

F("dates", "day_of_year", "day_of_year(year, month, day) counts from 1 on the first of January.", '''
def day_of_year(year, month, day):
    lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0):
        lengths[1] = 29
    return sum(lengths[:month - 1]) + day
''', lambda r: tuple(ymd(r)))

F("dates", "format_clock", "format_clock(seconds) writes a non-negative number of seconds as H:MM:SS.", '''
def format_clock(seconds):
    hours = seconds // 3600
    minutes = seconds % 3600 // 60
    return "%d:%02d:%02d" % (hours, minutes, seconds % 60)
''', lambda r: (pick(r, [r.randint(0, 200), r.randint(0, 100000), 3600 * r.randint(0, 9), 60 * r.randint(0, 99)]),))

F("dates", "minutes_between", "minutes_between(start, end) is the number of minutes from one 'HH:MM' to the next time the clock shows the other, 0 if they are equal.", '''
def minutes_between(start, end):
    a = int(start[:2]) * 60 + int(start[3:])
    b = int(end[:2]) * 60 + int(end[3:])
    if b < a:
        b += 24 * 60
    return b - a
''', lambda r: ("%02d:%02d" % (r.randint(0, 23), r.randint(0, 59)), "%02d:%02d" % (r.randint(0, 23), r.randint(0, 59))))

F("dates", "add_months", "add_months(year, month, n) moves a month by n months, forwards or back, and returns [year, month].", '''
def add_months(year, month, n):
    index = year * 12 + month - 1 + n
    return [index // 12, index % 12 + 1]
''', lambda r: (r.randint(1999, 2030), r.randint(1, 12), r.randint(-30, 30)))

F("dates", "weekday", "weekday(year, month, day) is 0 for Monday to 6 for Sunday.", '''
def weekday(year, month, day):
    if month < 3:
        month += 12
        year -= 1
    k = day + 13 * (month + 1) // 5 + year + year // 4 - year // 100 + year // 400
    return (k + 5) % 7
''', lambda r: tuple(ymd(r)))

F("dates", "valid_date", "valid_date(year, month, day) says whether the date exists; years begin with 1.", '''
def valid_date(year, month, day):
    if year < 1 or month < 1 or month > 12 or day < 1:
        return False
    lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0):
        lengths[1] = 29
    return day <= lengths[month - 1]
''', lambda r: (pick(r, [1900, 2000, 2023, 2024, 0, 1]), pick(r, [2, 2, r.randint(0, 13)]), pick(r, [28, 29, 30, 31, 32, 0, 1])))

F("dates", "next_day", "next_day(year, month, day) is the following date as [year, month, day].", '''
def next_day(year, month, day):
    lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0):
        lengths[1] = 29
    day += 1
    if day > lengths[month - 1]:
        day = 1
        month += 1
    if month > 12:
        month = 1
        year += 1
    return [year, month, day]
''', lambda r: pick(r, [tuple(ymd(r)), (r.choice([1900, 2000, 2023, 2024]), 2, r.choice([28, 28, 27])), (r.randint(1999, 2003), 12, 31), (2021, r.choice([1, 3, 4, 6, 9, 11]), 30)]))

F("dates", "to_24_hours", "to_24_hours(text) turns '1:05 pm' into '13:05' and '12:30 am' into '00:30'.", '''
def to_24_hours(text):
    clock, half = text.split(" ")
    hour, minute = clock.split(":")
    h = int(hour) % 12
    if half == "pm":
        h += 12
    return "%02d:%s" % (h, minute)
''', lambda r: ("%d:%02d %s" % (pick(r, [12, r.randint(1, 12)]), r.randint(0, 59), r.choice(["am", "pm"])),))

F("dates", "age_on", "age_on(birth, today) is the age in full years; both are [year, month, day].", '''
def age_on(birth, today):
    age = today[0] - birth[0]
    if (today[1], today[2]) < (birth[1], birth[2]):
        age -= 1
    return age
''', lambda r: (lambda m, d: ([r.randint(1980, 2005), m, d], [r.randint(2006, 2026), pick(r, [m, r.randint(1, 12)]), pick(r, [d, d - 1, r.randint(1, 28)])]))(r.randint(1, 12), r.randint(2, 28)))

F("dates", "quarter_of", "quarter_of(month) is 'Q1' to 'Q4'; a month outside 1 to 12 raises ValueError.", '''
def quarter_of(month):
    if not 1 <= month <= 12:
        raise ValueError("month")
    return "Q" + str((month - 1) // 3 + 1)
''', lambda r: (r.randint(-1, 14),))

F("dates", "busy_minutes", "busy_minutes(shifts) sums the minutes of shifts ['HH:MM', 'HH:MM'] of one day; a shift that ends before it starts counts for nothing.", '''
def busy_minutes(shifts):
    total = 0
    for start, end in shifts:
        a = int(start[:2]) * 60 + int(start[3:])
        b = int(end[:2]) * 60 + int(end[3:])
        if b > a:
            total += b - a
    return total
''', lambda r: ([["%02d:%02d" % (r.randint(6, 12), r.randint(0, 59)), "%02d:%02d" % (r.randint(9, 18), r.randint(0, 59))] for _ in range(r.randint(0, 4))],))
