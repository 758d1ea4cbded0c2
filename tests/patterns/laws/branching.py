"""Branches and joins: basic control flow, splits and merges."""

from __future__ import annotations

from perdure.testing.pure import BEGIN, SECOND
from tests.patterns.harness import Scenario, Story
from tests.patterns.laws.words import begins_with, begun, did_not, law, the


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
