"""Multiple instances, and the cancellation of tasks, regions and cases."""

from __future__ import annotations

from perdure.testing.pure import BEGIN, SECOND
from tests.patterns.harness import Scenario, Story
from tests.patterns.laws.words import begins_with, begun, did_not, goes_before, law, received, the


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
