"""What every store must do, as test classes: one file per port, one test per sentence.

To hold a store of your own to them, give pytest a fixture `subject` that yields a `Subject` (a fresh, open store and
the clock that it goes by), and subclass what applies:

    from perdure.testing.contracts import JournalContract

    class TestJournal(JournalContract): ...

The tests are coroutines (pytest-asyncio in `auto` mode runs them as they are) and never sleep: time passes when
`subject.clock.advance` says so.
"""

from perdure.testing.contracts.blobs import BlobsContract
from perdure.testing.contracts.cells import CellsContract
from perdure.testing.contracts.claims import ClaimsContract
from perdure.testing.contracts.declining import DecliningContract
from perdure.testing.contracts.definitions import DefinitionsContract
from perdure.testing.contracts.fencing import FencingContract
from perdure.testing.contracts.hints import HintsContract
from perdure.testing.contracts.inbox import InboxContract
from perdure.testing.contracts.journal import JournalContract
from perdure.testing.contracts.leases import LeasesContract
from perdure.testing.contracts.outbox import OutboxContract
from perdure.testing.contracts.runs import RunsContract
from perdure.testing.contracts.starts import StartsContract
from perdure.testing.contracts.store import StoreContract
from perdure.testing.contracts.subject import ManualClock, Subject

__all__ = [
    "BlobsContract",
    "CellsContract",
    "ClaimsContract",
    "DecliningContract",
    "DefinitionsContract",
    "FencingContract",
    "HintsContract",
    "InboxContract",
    "JournalContract",
    "LeasesContract",
    "ManualClock",
    "OutboxContract",
    "RunsContract",
    "StartsContract",
    "StoreContract",
    "Subject",
]
