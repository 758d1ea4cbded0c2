"""States, iteration and triggers."""

from __future__ import annotations

from typing import Any

from tests.patterns.harness import Scenario, Story
from tests.patterns.laws.words import begins_with, goes_before, law, never_together, received, the

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
