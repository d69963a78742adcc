"""Which functions of NumPy have no meaning for traced values, and what is to be written in their place?

A function without a rule is refused by its name in any case; this is the table of the remedies, by the name of the
function or of its module, so that no module has to be imported for it.
"""

from __future__ import annotations

from symbolic.naming import REMEDIES

_TEXT = "traced values are numbers: handle text outside the traced function"
_TIME = "turn dates into numbers (days since a date) before the traced function is called"
_FIELDS = "pass the fields as arrays of their own (x['name'] of plain records), and join them with np.stack"
_FILE = "a traced value has no numbers to write: return it from the function, and save what comes out"
_SHOWN = "a traced value has no digits to show: return it from the function, and print what comes out"
_READ = "read the file outside the traced function, and pass the array in"
_JOINED = "join traced values with np.stack or np.concatenate; an array of plain numbers is made without like="
_MADE = "leave like= out: NumPy makes the array, and it can be used beside traced values"
_MEMORY = "a traced value has no memory: compare names with `is`, or take a copy with np.copy"

_BY_REMEDY: dict[str, tuple[str, ...]] = {
    _TEXT: ("np.strings", "np.char"),
    _TIME: ("np.busday_count", "np.busday_offset", "np.is_busday", "np.datetime_as_string", "np.isnat"),
    _FIELDS: ("np.lib.recfunctions",),
    _FILE: ("np.save", "np.savez", "np.savez_compressed", "np.savetxt"),
    _SHOWN: ("np.array2string", "np.array_repr", "np.array_str"),
    _READ: ("np.fromfile", "np.fromstring", "np.loadtxt", "np.genfromtxt"),
    _JOINED: (
        *("np.array", "np.asarray", "np.asanyarray", "np.ascontiguousarray", "np.asfortranarray", "np.require"),
        *("np.fromiter", "np.frombuffer"),
    ),
    _MADE: (
        *("np.arange", "np.empty", "np.eye", "np.fromfunction", "np.full", "np.identity", "np.ones", "np.tri"),
        "np.zeros",
    ),
    _MEMORY: ("np.may_share_memory", "np.shares_memory"),
}

REMEDIES.update({name: remedy for remedy, names in _BY_REMEDY.items() for name in names})
REMEDIES["np.frompyfunc"] = "use np.vectorize(f), or call f itself"
