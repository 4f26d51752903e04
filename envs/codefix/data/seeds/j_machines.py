"""Seed functions that are small state machines. See ../build.py for the form."""
from seedlib import F, ints, pick, word

F("machines", "turnstile", "turnstile(events) plays 'coin' and 'push' on a locked turnstile and returns [people through, coins wasted, locked]: a coin unlocks, a push through an unlocked one locks it, a coin in an unlocked one is wasted.", '''
def turnstile(events):
    locked = True
    through = wasted = 0
    for event in events:
        if event == "coin":
            if locked:
                locked = False
            else:
                wasted += 1
        elif event == "push":
            if not locked:
                through += 1
                locked = True
    return [through, wasted, locked]
''', lambda r: ([r.choice(["coin", "push"]) for _ in range(r.randint(0, 8))],))

F("machines", "vending", "vending(coins, price) takes coins one by one; as soon as the credit reaches price > 0 a drink is sold and the rest stays as credit. Returns [drinks, credit].", '''
def vending(coins, price):
    credit = drinks = 0
    for coin in coins:
        credit += coin
        while credit >= price:
            credit -= price
            drinks += 1
    return [drinks, credit]
''', lambda r: ([r.choice([1, 2, 5, 10]) for _ in range(r.randint(0, 7))], r.randint(2, 9)))

F("machines", "traffic_light", "traffic_light(seconds) shows green for 30 s, yellow for 5 s and red for 25 s, again and again from second 0; returns the colour.", '''
def traffic_light(seconds):
    t = seconds % 60
    if t < 30:
        return "green"
    if t < 35:
        return "yellow"
    return "red"
''', lambda r: (pick(r, [r.randint(0, 200), 60 * r.randint(0, 3) + r.choice([0, 29, 30, 34, 35, 59])]),))

F("machines", "robot_walk", "robot_walk(moves) starts at [0, 0] facing north; 'L' and 'R' turn, 'F' goes one step. Returns [x, y, facing] with facing one of 'NESW'.", '''
def robot_walk(moves):
    x = y = 0
    facing = 0
    steps = [(0, 1), (1, 0), (0, -1), (-1, 0)]
    for m in moves:
        if m == "L":
            facing = (facing - 1) % 4
        elif m == "R":
            facing = (facing + 1) % 4
        elif m == "F":
            x += steps[facing][0]
            y += steps[facing][1]
    return [x, y, "NESW"[facing]]
''', lambda r: ("".join(r.choice("LRFFF") for _ in range(r.randint(0, 10))),))

F("machines", "debounce", "debounce(samples, need) is the list of stable levels: it begins at 0 and changes when need samples in a row differ from it. One level per sample.", '''
def debounce(samples, need):
    level = 0
    run = 0
    out = []
    for s in samples:
        if s != level:
            run += 1
            if run >= need:
                level = s
                run = 0
        else:
            run = 0
        out.append(level)
    return out
''', lambda r: ([int(r.random() < .6) for _ in range(r.randint(0, 12))], r.randint(1, 3)))

F("machines", "login_lock", "login_lock(tries, limit) plays 'ok' and 'bad' logins: after limit bad ones in a row the account is locked and nothing counts any more. Returns [logins, locked].", '''
def login_lock(tries, limit):
    bad = good = 0
    for t in tries:
        if bad >= limit:
            break
        if t == "ok":
            good += 1
            bad = 0
        else:
            bad += 1
    return [good, bad >= limit]
''', lambda r: ([r.choice(["ok", "bad", "bad"]) for _ in range(r.randint(0, 9))], r.randint(1, 4)))

F("machines", "elevator", "elevator(start, calls) serves calls in order and returns the number of floors travelled; a call to where it is costs nothing.", '''
def elevator(start, calls):
    floor = start
    travelled = 0
    for call in calls:
        travelled += abs(call - floor)
        floor = call
    return travelled
''', lambda r: (r.randint(0, 9), ints(r, 0, 6, 0, 9)))

F("machines", "stack_machine", "stack_machine(program) runs 'push n', 'add', 'dup', 'swap' and 'drop' on a stack and returns it; an instruction without its operands is left out.", '''
def stack_machine(program):
    stack = []
    for line in program:
        op = line.split()
        if op[0] == "push":
            stack.append(int(op[1]))
        elif op[0] == "add" and len(stack) >= 2:
            b = stack.pop()
            stack[-1] += b
        elif op[0] == "dup" and stack:
            stack.append(stack[-1])
        elif op[0] == "swap" and len(stack) >= 2:
            stack[-1], stack[-2] = stack[-2], stack[-1]
        elif op[0] == "drop" and stack:
            stack.pop()
    return stack
''', lambda r: ([pick(r, ["push %d" % r.randint(0, 9), "push %d" % r.randint(0, 9), "add", "dup", "swap", "drop"]) for _ in range(r.randint(0, 8))],))

F("machines", "brackets_depth", "brackets_depth(text) returns the largest nesting of round brackets, or -1 if one closes that was not open or one stays open.", '''
def brackets_depth(text):
    depth = deepest = 0
    for ch in text:
        if ch == "(":
            depth += 1
            deepest = max(deepest, depth)
        elif ch == ")":
            depth -= 1
            if depth < 0:
                return -1
    if depth != 0:
        return -1
    return deepest
''', lambda r: (pick(r, ["".join(r.choice("()a") for _ in range(r.randint(0, 6))), "(" * r.randint(0, 4) + ")" * r.randint(0, 4), "(()())", "a(b)(c(d))", ")("]),))

F("machines", "lights_out", "lights_out(lamps, presses) toggles for each press that lamp and its left and right neighbours, where there are such; returns the lamps.", '''
def lights_out(lamps, presses):
    out = list(lamps)
    for p in presses:
        for i in (p - 1, p, p + 1):
            if 0 <= i < len(out):
                out[i] = 1 - out[i]
    return out
''', lambda r: (lambda n: ([r.randint(0, 1) for _ in range(n)], [r.randrange(n) for _ in range(r.randint(0, 4))]))(r.randint(1, 6)))

F("machines", "thermostat", "thermostat(temps, low, high) heats from a temperature below low until one above high; returns the list of heater states, off at first.", '''
def thermostat(temps, low, high):
    on = False
    out = []
    for t in temps:
        if t < low:
            on = True
        elif t > high:
            on = False
        out.append(on)
    return out
''', lambda r: (ints(r, 0, 9, 14, 26), r.randint(16, 19), r.randint(20, 23)))

F("machines", "order_states", "order_states(events) moves an order: new -pay-> paid -ship-> sent -deliver-> done; cancel from new or paid gives cancelled; other events are ignored. Returns the last state.", '''
def order_states(events):
    moves = {("new", "pay"): "paid", ("paid", "ship"): "sent", ("sent", "deliver"): "done",
             ("new", "cancel"): "cancelled", ("paid", "cancel"): "cancelled"}
    state = "new"
    for event in events:
        state = moves.get((state, event), state)
    return state
''', lambda r: ([pick(r, ["pay", "ship", "deliver", "cancel", "pay"]) for _ in range(r.randint(0, 5))] if r.random() < .6 else ["pay", "ship", "deliver", "cancel"][:r.randint(0, 4)],))

F("machines", "token_bucket", "token_bucket(capacity, refill, requests) starts full; before each request refill tokens come in, never above capacity; a request of n is granted if n tokens are there. Returns the granted flags.", '''
def token_bucket(capacity, refill, requests):
    tokens = capacity
    out = []
    for n in requests:
        tokens = min(capacity, tokens + refill)
        if n <= tokens:
            tokens -= n
            out.append(True)
        else:
            out.append(False)
    return out
''', lambda r: (r.randint(2, 8), r.randint(0, 3), ints(r, 0, 8, 1, 6)))
