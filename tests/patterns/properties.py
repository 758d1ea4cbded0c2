"""What defines each pattern, checked on any history of its document, whatever order things happened in.

Each function is given the story of a run and raises if the pattern's law was broken. Times are seconds; `first` and
`last` are the numbers of the events, for what happened in the same second.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

from perdure.model import events as e
from perdure.testing.pure import BEGIN, SECOND
from tests.patterns.harness import Fact, Scenario, Story

Law = Callable[[Story, Scenario], None]
LAWS: dict[int, Law] = {}


def law(number: int) -> Callable[[Law], Law]:
    def keep(function: Law) -> Law:
        LAWS[number] = function
        return function

    return keep


# -- words ----------------------------------------------------------------------------------------


def the(story: Story, node: str) -> Fact:
    """The one time that the node completed."""
    (found,) = story.completed(node)
    return found


def begun(story: Story, *nodes: str) -> list[Fact]:
    return [fact for fact in story.of(*nodes) if fact.began is not None]


def goes_before(one: Fact, other: Fact) -> None:
    assert one.end == "completes"
    assert one.last < other.first


def begins_with(follower: Fact, cause: Fact) -> None:
    """At the very moment when the other completes."""
    goes_before(cause, follower)
    assert follower.began == cause.ended


def never_together(facts: list[Fact]) -> None:
    order = sorted(facts, key=lambda fact: fact.first)
    for one, other in pairwise(order):
        assert one.last < other.first, f"{one.label} and {other.label}"


def did_not(story: Story, node: str) -> None:
    assert not begun(story, node)


class Came(NamedTuple):
    number: int
    """Of the event, to compare with `first` and `last`."""
    at: float
    payload: Any


def received(story: Story, name: str) -> list[Came]:
    """The signals of this name, in the order in which they came."""
    numbered = enumerate(((at, event) for at, events in story.run.turns for event in events), start=1)
    return [
        Came(number, (at - BEGIN) / SECOND, event.payload)
        for number, (at, event) in numbered
        if isinstance(event, e.SignalReceived) and event.name == name
    ]


# -- basic ----------------------------------------------------------------------------------------


@law(1)
def sequence(story: Story, _: Scenario) -> None:
    pick, pack, ship = (the(story, node) for node in ("pick", "pack", "ship"))
    begins_with(pack, pick)
    begins_with(ship, pack)


@law(2)
def parallel_split(story: Story, _: Scenario) -> None:
    source = the(story, "register-claim")
    for branch in ("check-policy", "inform-customer"):
        begins_with(the(story, branch), source)


@law(3)
def synchronization(story: Story, _: Scenario) -> None:
    branches = story.completed("reserve-flight", "reserve-hotel")
    assert len(branches) == 2
    begins_with(the(story, "send-itinerary"), branches[-1])


@law(4)
def exclusive_choice(story: Story, scenario: Scenario) -> None:
    chosen, other = "ask-manager", "approve"
    if scenario["input"]["amount"] <= 1000:
        chosen, other = other, chosen
    the(story, chosen)
    did_not(story, other)


@law(5)
def simple_merge(story: Story, _: Scenario) -> None:
    (branch,) = story.completed("debit-account", "collect-cash")
    begins_with(the(story, "hand-over-keys"), branch)


SENT = {"crime": "send-police", "fire": "send-firefighters", "injured": "send-ambulance"}


@law(6)
def multi_choice(story: Story, scenario: Scenario) -> None:
    wanted = {node for what, node in SENT.items() if scenario["input"][what]}
    assert {fact.node for fact in story.completed(*SENT.values())} == wanted
    assert {fact.node for fact in begun(story, *SENT.values())} == wanted


@law(7)
def structured_synchronizing_merge(story: Story, scenario: Scenario) -> None:
    multi_choice(story, scenario)
    sent = story.completed(*SENT.values())
    if sent:
        begins_with(the(story, "file-report"), sent[-1])
    else:
        did_not(story, "file-report")


@law(8)
def multi_merge(story: Story, _: Scenario) -> None:
    works = story.completed("wire-house", "plumb-house", "paint-house")
    inspections = begun(story, "inspect")
    assert len(works) == len(inspections) == len(story.completed("sign-off")) == 3
    for work, inspection in zip(works, inspections, strict=True):
        begins_with(inspection, work)


@law(9)
def structured_discriminator(story: Story, _: Scenario) -> None:
    asked = story.completed("ask-north", "ask-south", "ask-west")
    assert len(asked) == 3
    begins_with(the(story, "answer-customer"), asked[0])


@law(10)
def arbitrary_cycles(story: Story, scenario: Scenario) -> None:
    outcomes = scenario["steps"]["review"]["outcome"]
    assert len(story.completed("review")) == len(outcomes)
    assert len(story.completed("write")) == outcomes.count("major") + (not scenario["input"]["has_draft"])
    assert len(story.completed("copy-edit")) == outcomes.count("minor")
    (way_out,) = story.completed("publish-article", "archive")
    begins_with(the(story, "close-file"), way_out)


@law(11)
def implicit_termination(story: Story, _: Scenario) -> None:
    last = story.completed("send-receipt", "count-stock", "order-more")[-1]
    assert len(story.facts) == 4
    assert story.run.state.closed_at == BEGIN + round((last.ended or 0) * SECOND)


# -- multiple instances ---------------------------------------------------------------------------


@law(12)
def without_synchronization(story: Story, scenario: Scenario) -> None:
    begins_with(the(story, "print-report"), the(story, "close-month"))
    assert len(story.completed("send-reminder")) == len(scenario["input"]["debtors"])
    assert len({fact.began for fact in begun(story, "send-reminder")}) == 1


def all_instances(story: Story, task: str, following: str, count: int) -> None:
    instances = story.completed(task)
    assert len(instances) == len(begun(story, task)) == count
    if instances:
        goes_before(instances[-1], the(story, following))


@law(13)
def design_time_knowledge(story: Story, _: Scenario) -> None:
    all_instances(story, "sign", "file-contract", 3)
    begins_with(the(story, "file-contract"), story.completed("sign")[-1])


@law(14)
def run_time_knowledge(story: Story, scenario: Scenario) -> None:
    all_instances(story, "write-opinion", "decide", len(scenario["steps"]["find-referees"]["returns"]["referees"]))


@law(15)
def no_knowledge(story: Story, scenario: Scenario) -> None:
    count = len(scenario["input"]["witnesses"])
    closed = 0.0
    for signal in received(story, "another-witness"):
        if signal.payload is None:
            closed = signal.at
            break
        count += len(signal.payload) if isinstance(signal.payload, list) else 1
    all_instances(story, "hear", "write-protocol", count)
    assert the(story, "write-protocol").began == max(closed, story.completed("hear")[-1].ended or 0)


@law(34)
def static_partial_join(story: Story, _: Scenario) -> None:
    samples = story.completed("examine-sample")
    assert len(samples) == 5
    begins_with(the(story, "release-batch"), samples[2])
    assert story.run.outputs["examine"]["count"] == 3
    last = max(samples[-1].ended or 0, the(story, "release-batch").ended or 0)
    assert story.run.state.closed_at == BEGIN + round(last * SECOND)


@law(35)
def cancelling_partial_join_for_instances(story: Story, _: Scenario) -> None:
    (answered,) = story.completed("phone")
    goes_before(answered, the(story, "change-roster"))
    others = [fact for fact in begun(story, "phone") if fact is not answered]
    assert all(fact.end == "is cancelled" for fact in others)


@law(36)
def dynamic_partial_join(story: Story, scenario: Scenario) -> None:
    bill = the(story, "send-bill")
    drives = story.completed("drive")
    assert {fact.first for fact in drives} == {fact.first for fact in begun(story, "drive")}
    assert all(fact.first < bill.first for fact in drives)
    counted = [fact for fact in drives if fact.last < bill.first]
    begins_with(bill, counted[-1])
    results = story.run.outputs["deliver"]["results"]
    assert len(results) == len(counted)
    assert sum(results) >= 0.8 * scenario["input"]["volume"]


# -- state ----------------------------------------------------------------------------------------

OFFERS = {"accepted": "make-contract", "declined": "thank-politely", "expired": "close-offer"}


@law(16)
def deferred_choice(story: Story, _: Scenario) -> None:
    (winner,) = story.completed(*OFFERS)
    losers = [fact for fact in story.of(*OFFERS) if fact is not winner]
    assert [fact.end for fact in losers] == ["is cancelled"] * 2
    (followed,) = story.completed(*OFFERS.values())
    assert followed.node == OFFERS[winner.node]
    begins_with(followed, winner)


@law(17)
def interleaved_parallel_routing(story: Story, _: Scenario) -> None:
    tasks = story.completed("draw-blood", "label-sample", "measure-pressure", "take-weight")
    assert len(tasks) == 4
    never_together(tasks)
    goes_before(the(story, "draw-blood"), the(story, "label-sample"))
    begins_with(the(story, "see-doctor"), tasks[-1])


@law(18)
def milestone(story: Story, _: Scenario) -> None:
    opened, closed = the(story, "open-enrolment"), the(story, "close-enrolment")
    (change,) = story.of("change-course")
    if change.end == "completes":
        assert opened.last < change.first < closed.first
    else:
        assert change.end == "comes too late"
        assert change.last > closed.first


@law(39)
def critical_section(story: Story, _: Scenario) -> None:
    sections = story.completed("take-deposit", "sell-insurance")
    never_together(sections)
    inside = story.completed("read-card", "charge-deposit", "enter-amount", "charge-insurance")
    never_together(inside)
    assert {fact.node for fact in inside[:2]} in ({"read-card", "charge-deposit"}, {"enter-amount", "charge-insurance"})
    goes_before(sections[-1], the(story, "print-voucher"))


@law(40)
def interleaved_routing(story: Story, _: Scenario) -> None:
    tasks = story.completed("check-oil", "check-brakes", "check-lights")
    assert len(tasks) == 3
    never_together(tasks)
    begins_with(the(story, "return-car"), tasks[-1])


# -- cancellation ---------------------------------------------------------------------------------


@law(19)
def cancel_task(story: Story, _: Scenario) -> None:
    (assessed,), (withdrawn,) = story.of("assess-damage"), story.of("claim-withdrawn")
    assert {assessed.end, withdrawn.end} == {"completes", "is cancelled"}
    done, left = ("pay-out", "close-claim") if assessed.end == "completes" else ("close-claim", "pay-out")
    the(story, done)
    did_not(story, left)


@law(20)
def cancel_case(story: Story, scenario: Scenario) -> None:
    assert story.run.status == "CANCELLED"
    late = [fact for fact in story.completed() if (fact.ended or 0) > scenario["cancel_at"]]
    assert all(fact.node == "cancel-order" for fact in late)
    did_not(story, "end")
    (order,) = story.of("order-goods")
    undone = the(story, "cancel-order")
    assert undone.first > order.last
    assert all(fact.last < undone.first for fact in story.facts if fact is not undone)


@law(25)
def cancel_region(story: Story, _: Scenario) -> None:
    region = story.of("check-income", "check-register", "rate", "offer-loan")
    (withdrawn,) = story.of("application-withdrawn")
    the(story, "archive-request")
    if withdrawn.end == "completes":
        assert all(fact.first < withdrawn.last for fact in region if fact.began is not None)
        assert all(fact.last < withdrawn.last for fact in region if fact.end == "completes")
        the(story, "confirm-withdrawal")
        assert not story.completed("offer-loan")
    else:
        assert all(fact.end == "completes" for fact in region)
        did_not(story, "confirm-withdrawal")


@law(26)
def cancel_instances(story: Story, scenario: Scenario) -> None:
    (over,) = story.of("recall-over")
    calls = begun(story, "call")
    if over.end == "completes":
        assert all(fact.first < over.last for fact in calls)
        assert all(fact.end == "is cancelled" for fact in calls if fact.last > over.last)
        did_not(story, "report-calls")
        the(story, "tell-press")
    else:
        assert len(story.completed("call")) == len(scenario["input"]["customers"])
        the(story, "report-calls")


@law(27)
def complete_instances(story: Story, _: Scenario) -> None:
    chosen = the(story, "choose-bid")
    bids = story.completed("ask-for-bid")
    assert all(fact.last < chosen.first for fact in begun(story, "ask-for-bid"))
    assert story.run.outputs["gather-bids"]["count"] == len(bids)
    if len(bids) < len(begun(story, "ask-for-bid")):
        (over,) = received(story, "bidding-over")
        assert all(fact.last < over.number for fact in bids)


@law(43)
def explicit_termination(story: Story, _: Scenario) -> None:
    searches = story.of("search-attic", "search-cellar")
    found = the(story, "found")
    (first,) = [fact for fact in searches if fact.end == "completes"]
    begins_with(found, first)
    assert [fact.end for fact in searches if fact is not first] == ["is cancelled"]
    assert story.run.status == "COMPLETED"


# -- iteration and triggers -----------------------------------------------------------------------


@law(21)
def structured_loop(story: Story, scenario: Scenario) -> None:
    pages = story.completed("fetch-page")
    assert len(pages) == scenario["input"]["pages"] == story.run.output
    never_together(pages)


@law(22)
def recursion(story: Story, scenario: Scenario) -> None:
    def mirrored(folder: Any) -> Any:
        return {"name": folder["name"], "inside": [mirrored(inner) for inner in folder["folders"]]}

    assert story.run.output == mirrored(scenario["input"])


@law(23)
def transient_trigger(story: Story, _: Scenario) -> None:
    (wait,) = story.of("doorbell")
    heard = [ring for ring in received(story, "ring") if ring.number > wait.first]
    if heard:
        assert (wait.end, wait.ended) == ("completes", heard[0].at)
        assert story.run.outputs["doorbell"] == heard[0].payload
    else:
        assert wait.end is None


@law(24)
def persistent_trigger(story: Story, _: Scenario) -> None:
    letter = received(story, "letter")[0]
    wait = the(story, "letter")
    assert story.run.outputs["letter"] == letter.payload
    assert wait.ended == max(letter.at, wait.began or 0)


# -- joins ----------------------------------------------------------------------------------------


def blocking(story: Story, branches: list[str], join: str, need: int) -> None:
    """The k-th firing waits for `need` of the branches' k-th arrivals, and for all of the arrivals before."""
    arrivals = [story.completed(branch) for branch in branches]
    firings = begun(story, join)
    assert [len(each) for each in arrivals] == [len(firings)] * len(branches)
    for k, firing in enumerate(firings):
        of_round = sorted((each[k] for each in arrivals), key=lambda fact: fact.last)
        causes = [of_round[need - 1]]
        if k:
            causes.append(max((each[k - 1] for each in arrivals), key=lambda fact: fact.last))
        begins_with(firing, max(causes, key=lambda fact: fact.last))


@law(28)
def blocking_discriminator(story: Story, _: Scenario) -> None:
    blocking(story, ["check-credit", "check-stock"], "confirm", 1)


@law(31)
def blocking_partial_join(story: Story, _: Scenario) -> None:
    blocking(story, ["audit-anna", "audit-boris", "audit-clara"], "pay", 2)


def cancelling(story: Story, last_of_branches: list[str], others: list[str], join: str, need: int) -> None:
    arrived = story.completed(*last_of_branches)
    firing = the(story, join)
    assert len(arrived) == need
    begins_with(firing, arrived[-1])
    for fact in story.of(*last_of_branches, *others):
        if fact.end != "completes":
            assert fact.end in ("is cancelled", "is withdrawn", "is skipped")
        if fact.began is not None:
            assert fact.first < firing.first


@law(29)
def cancelling_discriminator(story: Story, _: Scenario) -> None:
    cancelling(story, ["ask-north", "translate", "ask-west"], ["ask-south"], "answer-customer", 1)


@law(32)
def cancelling_partial_join(story: Story, _: Scenario) -> None:
    cancelling(story, ["ask-anna", "ask-boris", "ask-clara", "ask-dmitri"], [], "decide", 2)


@law(30)
def structured_partial_join(story: Story, _: Scenario) -> None:
    asked = story.completed("ask-anna", "ask-boris", "ask-clara")
    assert len(asked) == 3
    begins_with(the(story, "decide"), asked[1])


@law(33)
def generalized_and_join(story: Story, _: Scenario) -> None:
    engines, chassis = story.completed("build-engine"), story.completed("build-chassis")
    cars = begun(story, "assemble")
    assert len(engines) == len(chassis) == len(cars) == 3
    for car, *parts in zip(cars, engines, chassis, strict=True):
        begins_with(car, max(parts, key=lambda fact: fact.last))


@law(37)
def local_synchronizing_merge(story: Story, scenario: Scenario) -> None:
    wanted = {"check-address"} if scenario["input"]["address"] else set()
    if scenario["input"]["identity"]:
        unclear = scenario["steps"]["check-identity"]["returns"]["unclear"]
        wanted |= {"check-identity", "search-archive"} if unclear else {"check-identity"}
    done = story.completed("check-identity", "check-address", "search-archive")
    assert {fact.node for fact in done} == wanted
    begins_with(the(story, "answer"), done[-1])


@law(38)
def general_synchronizing_merge(story: Story, scenario: Scenario) -> None:
    came = scenario["steps"]["chase-papers"]["outcome"][-1] == "complete"
    decision = the(story, "decide")
    last = the(story, "check-papers") if came else story.completed("chase-papers")[-1]
    begins_with(decision, max((last, the(story, "value-house")), key=lambda fact: fact.last))
    if not came:
        did_not(story, "check-papers")
        the(story, "refuse-help")


@law(41)
def thread_merge(story: Story, _: Scenario) -> None:
    packed, vans = story.completed("pack-parcel"), begun(story, "load-van")
    assert (len(packed), len(vans)) == (4, 2)
    begins_with(vans[0], packed[1])
    begins_with(vans[1], packed[3])


@law(42)
def thread_split(story: Story, _: Scenario) -> None:
    printed = the(story, "print-label")
    assert len(story.completed("stick-label")) == 3
    for fact in begun(story, "stick-label"):
        begins_with(fact, printed)
