package main

func (r *report) roofline() []byte { return nil }
