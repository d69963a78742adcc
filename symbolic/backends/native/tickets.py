"""How is work taken by whoever has time, share by share? By tickets, all in the word in which the next one stands.

Work is a function of a table, a number and who does it, for all numbers below a count. The caller and the helpers take
tickets one after the other. The caller never waits for a helper to begin, only for tickets that a helper has taken:
where none comes in time, the caller has done it all. Whoever waits looks for a short time, since the next piece of a
program mostly comes soon, and then sleeps.
"""

from __future__ import annotations

from symbolic.backends.native.host import host

__all__ = ["AWAKE", "TICKETS", "WORDS", "text"]

AWAKE = 50_000
"""Nanoseconds for which somebody who has nothing to do looks for work before he sleeps."""
TICKETS = (1 << 16) - 1
"""The most of a round."""
WORDS = 64
_PLACES = {
    "state": 8,
    "finished": 16,
    "works": 24,
    "tables": 25,
    "busy": 26,
    "waits": 27,
    "sleepers": 28,
    "numbers": 29,
    "lock": 32,
    "wake": 40,
    "end": 48,
}
"""The words after the first, which is how work is done: the round, times 2³², how many tickets it has, times 2¹⁶, and
the next one, in one word, so that none is taken of a round that is over; how many tickets helpers have done; the work
and its table; whether somebody is busy; whether he sleeps until the end; how many helpers sleep, and how many there
are; a lock, and what threads sleep at."""

_PAUSES = {"x86_64": "llvm.x86.sse2.pause()", "aarch64": "llvm.aarch64.hint(i32 1)"}
_TEXT = """
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_signal(ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @clock_gettime(i32, ptr)
declare void @DECLARED

define void @alone(ptr %team, ptr %work, ptr %table, i64 %count) {
entry:
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %after, %body ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %body, label %done
body:
  call void %work(ptr %table, i64 %i, i64 0)
  %after = add i64 %i, 1
  br label %next
done:
  ret void
}

define internal i64 @now() {
entry:
  %time = alloca [2 x i64]
  %c = call i32 @clock_gettime(i32 1, ptr %time)
  %place = getelementptr i64, ptr %time, i64 1
  %seconds = load i64, ptr %time
  %rest = load i64, ptr %place
  %whole = mul i64 %seconds, 1000000000
  %sum = add i64 %whole, %rest
  ret i64 %sum
}

define internal i1 @open(i64 %now) {
  %ticket = and i64 %now, 65535
  %high = lshr i64 %now, 16
  %count = and i64 %high, 65535
  %left = icmp ult i64 %ticket, %count
  ret i1 %left
}

define internal i64 @tickets(ptr %team, i64 %who) {
entry:
PLACES
  br label %next
next:
  %n = phi i64 [ 0, %entry ], [ %n, %take ], [ %more, %body ]
  %now = load atomic i64, ptr %state seq_cst, align 8
  %left = call i1 @open(i64 %now)
  br i1 %left, label %take, label %done
take:
  %address = load atomic i64, ptr %works monotonic, align 8
  %data = load atomic i64, ptr %tables monotonic, align 8
  %then = add i64 %now, 1
  %pair = cmpxchg ptr %state, i64 %now, i64 %then seq_cst seq_cst, align 8
  %mine = extractvalue { i64, i1 } %pair, 1
  br i1 %mine, label %body, label %next
body:
  %work = inttoptr i64 %address to ptr
  %table = inttoptr i64 %data to ptr
  %i = and i64 %now, 65535
  call void %work(ptr %table, i64 %i, i64 %who)
  %more = add i64 %n, 1
  br label %next
done:
  ret i64 %n
}

define void @together(ptr %team, ptr %work, ptr %table, i64 %count) {
entry:
PLACES
  %pair = cmpxchg ptr %busy, i64 0, i64 1 seq_cst seq_cst, align 8
  %free = extractvalue { i64, i1 } %pair, 1
  br i1 %free, label %begin, label %alone
alone:
  call void @alone(ptr %team, ptr %work, ptr %table, i64 %count)
  ret void
begin:
  %address = ptrtoint ptr %work to i64
  %data = ptrtoint ptr %table to i64
  store atomic i64 %address, ptr %works monotonic, align 8
  store atomic i64 %data, ptr %tables monotonic, align 8
  store atomic i64 0, ptr %finished monotonic, align 8
  %before = load atomic i64, ptr %state monotonic, align 8
  %old = lshr i64 %before, 32
  %new = add i64 %old, 1
  %round = shl i64 %new, 32
  %many = shl i64 %count, 16
  %begun = or i64 %round, %many
  store atomic i64 %begun, ptr %state seq_cst, align 8
  %asleep = load atomic i64, ptr %sleepers seq_cst, align 8
  %any = icmp ne i64 %asleep, 0
  br i1 %any, label %rouse, label %work.on
rouse:
  %l1 = call i32 @pthread_mutex_lock(ptr %lock)
  %u1 = call i32 @pthread_mutex_unlock(ptr %lock)
  %b1 = call i32 @pthread_cond_broadcast(ptr %wake)
  br label %work.on
work.on:
  %mine = call i64 @tickets(ptr %team, i64 0)
  %rest = sub i64 %count, %mine
  %nothing = icmp eq i64 %rest, 0
  br i1 %nothing, label %over, label %awake
UNTIL_ALL_IS_DONE
over:
  store atomic i64 0, ptr %busy seq_cst, align 8
  ret void
}

define ptr @helper(ptr %team) {
entry:
PLACES
  %number = atomicrmw add ptr %numbers, i64 1 seq_cst
  %who = add i64 %number, 1
  br label %help
help:
  %mine = call i64 @tickets(ptr %team, i64 %who)
  %any = icmp ne i64 %mine, 0
  br i1 %any, label %tell, label %awake
tell:
  %sum = atomicrmw add ptr %finished, i64 %mine seq_cst
  %asleep = load atomic i64, ptr %waits seq_cst, align 8
  %sleeps = icmp ne i64 %asleep, 0
  br i1 %sleeps, label %rouse, label %awake
rouse:
  %l1 = call i32 @pthread_mutex_lock(ptr %lock)
  %s1 = call i32 @pthread_cond_signal(ptr %end)
  %u1 = call i32 @pthread_mutex_unlock(ptr %lock)
  br label %awake
UNTIL_THERE_IS_WORK
}
"""

_WAITING = """awake:
  %since = call i64 @now()
  br label %look
look:
  %seen = load atomic i64, ptr %WATCHED seq_cst, align 8
  %so = ASKED %seenGIVEN
  br i1 %so, label %THEN, label %pause
pause:
  call void @PAUSE
  %time = call i64 @now()
  %passed = sub i64 %time, %since
  %soon = icmp ult i64 %passed, AWAKE
  br i1 %soon, label %look, label %sleep
sleep:
  %l2 = call i32 @pthread_mutex_lock(ptr %lock)
  %before2 = atomicrmw add ptr %COUNTED, i64 1 seq_cst
  br label %check
check:
  %seen2 = load atomic i64, ptr %WATCHED seq_cst, align 8
  %so2 = ASKED %seen2GIVEN
  br i1 %so2, label %woken, label %wait
wait:
  %w = call i32 @pthread_cond_wait(ptr %PLACE, ptr %lock)
  br label %check
woken:
  %after2 = atomicrmw sub ptr %COUNTED, i64 1 seq_cst
  %u2 = call i32 @pthread_mutex_unlock(ptr %lock)
  br label %THEN"""


def _until(watched: str, asked: str, given: str, counted: str, place: str, then: str) -> str:
    """Look whether it is so as long as one is awake, then sleep, counted as one who does, and go on when it is."""
    words = {"WATCHED": watched, "ASKED": asked, "GIVEN": given, "COUNTED": counted, "PLACE": place, "THEN": then}
    return _replaced(_WAITING, words)


def _replaced(found: str, words: dict[str, str]) -> str:
    for word, said in words.items():
        found = found.replace(word, said)
    return found


def text() -> str:
    """Of the functions `alone`, `together` and `helper`."""
    pause = _PAUSES[host().machine]
    name, given = pause.rstrip(")").split("(")
    words = {
        "UNTIL_ALL_IS_DONE": _until("finished", "icmp eq i64", ", %rest", "waits", "end", "over"),
        "UNTIL_THERE_IS_WORK": _until("state", "call i1 @open(i64", ")", "sleepers", "wake", "help"),
        "PLACES": "\n".join(f"  %{name} = getelementptr i64, ptr %team, i64 {k}" for name, k in _PLACES.items()),
        "DECLARED": f"{name}({given.split()[0] if given else ''})",
        "PAUSE": pause,
        "AWAKE": str(AWAKE),
    }
    return _replaced(_TEXT, words)
