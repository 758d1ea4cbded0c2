"""Drafts, versions and the active one."""

from __future__ import annotations

import asyncio

import pytest

from perdure.errors import Conflict, DraftChanged, NotFound
from perdure.testing.contracts.subject import BEGIN, Subject

DOCUMENT = {"name": "Ördér ✓", "nodes": [{"id": "a", "big": 2**70, "float": 0.1}], "nothing": None}


class DefinitionsContract:
    async def test_a_draft_is_kept_as_it_was_saved(self, subject: Subject) -> None:
        definitions = subject.store.definitions
        saved = await definitions.save_draft("default", "order", "flow", DOCUMENT)
        assert (saved.namespace, saved.id, saved.kind) == ("default", "order", "flow")
        assert (saved.document, saved.updated_at) == (DOCUMENT, BEGIN)
        assert await definitions.draft("default", "order") == saved
        assert await definitions.draft("default", "nobody") is None
        assert await definitions.draft("other", "order") is None

    async def test_each_save_has_another_etag(self, subject: Subject) -> None:
        save = subject.store.definitions.save_draft
        etags = [(await save("default", "order", "flow", {"n": n})).etag for n in (1, 2, 1)]
        assert len(set(etags)) == 3
        assert "" not in etags

    async def test_saving_over_somebody_elses_draft_is_refused(self, subject: Subject) -> None:
        definitions = subject.store.definitions
        first = await definitions.save_draft("default", "order", "flow", {"n": 1}, "")
        second = await definitions.save_draft("default", "order", "flow", {"n": 2}, first.etag)
        for outdated in (first.etag, "", "nonsense"):
            with pytest.raises(DraftChanged):
                await definitions.save_draft("default", "order", "flow", {"n": 3}, outdated)
        assert await definitions.draft("default", "order") == second
        with pytest.raises(DraftChanged):
            await definitions.save_draft("default", "other", "flow", {}, second.etag)
        assert await definitions.draft("default", "other") is None

    async def test_of_many_saves_from_the_same_draft_one_succeeds(self, subject: Subject) -> None:
        definitions = subject.store.definitions
        first = await definitions.save_draft("default", "order", "flow", {"n": -1})
        saves = [definitions.save_draft("default", "order", "flow", {"n": n}, first.etag) for n in range(50)]
        answers = await asyncio.gather(*saves, return_exceptions=True)
        assert sum(isinstance(answer, DraftChanged) for answer in answers) == 49
        (winner,) = [answer for answer in answers if not isinstance(answer, BaseException)]
        assert await definitions.draft("default", "order") == winner

    async def test_versions_count_from_one(self, subject: Subject) -> None:
        definitions = subject.store.definitions
        published = [await definitions.publish("default", "order", "flow", {"n": n}, f"h{n}", None) for n in range(3)]
        assert [version.version for version in published] == [1, 2, 3]
        for version in published:
            assert await definitions.version("default", "order", version.version) == version
        assert await definitions.version("default", "order") == published[-1]

    async def test_a_version_is_kept_as_it_was_published(self, subject: Subject) -> None:
        version = await subject.store.definitions.publish("default", "order", "lifecycle", DOCUMENT, "h", "first ✓")
        assert (version.namespace, version.id, version.kind, version.hash) == ("default", "order", "lifecycle", "h")
        assert (version.document, version.note, version.created_at) == (DOCUMENT, "first ✓", BEGIN)

    async def test_publishing_the_same_content_again_gives_the_same_version(self, subject: Subject) -> None:
        publish = subject.store.definitions.publish
        first = await publish("default", "order", "flow", {"n": 1}, "h1", "note")
        assert await publish("default", "order", "flow", {"n": 1}, "h1", "other note") == first
        second = await publish("default", "order", "flow", {"n": 2}, "h2", None)
        back = await publish("default", "order", "flow", {"n": 1}, "h1", None)
        assert (second.version, back.version) == (2, 3)  # only the newest version counts

    async def test_concurrent_publishing_gives_every_content_one_number(self, subject: Subject) -> None:
        definitions = subject.store.definitions
        publishing = [definitions.publish("default", "order", "flow", {"n": n}, f"h{n}", None) for n in range(20)]
        published = await asyncio.gather(*publishing)
        assert sorted(version.version for version in published) == list(range(1, 21))
        assert await definitions.versions("default", "order") == sorted(published, key=lambda version: version.version)

    async def test_versions_are_listed_in_order_of_their_numbers(self, subject: Subject) -> None:
        definitions = subject.store.definitions
        for n in range(1, 13):
            await definitions.publish("default", "order", "flow", {"n": n}, f"h{n}", None)
        listed = await definitions.versions("default", "order")
        assert [version.version for version in listed] == list(range(1, 13))
        assert list(await definitions.versions("default", "nobody")) == []

    async def test_what_is_not_published_has_no_version(self, subject: Subject) -> None:
        definitions = subject.store.definitions
        await definitions.save_draft("default", "order", "flow", {})
        assert await definitions.version("default", "order") is None
        assert await definitions.version("default", "order", 1) is None
        assert await definitions.active("default", "order") is None

    async def test_activating_chooses_a_version_and_raises_the_revision(self, subject: Subject) -> None:
        definitions = subject.store.definitions
        first = await definitions.publish("default", "order", "flow", {"n": 1}, "h1", None)
        second = await definitions.publish("default", "order", "flow", {"n": 2}, "h2", None)
        revisions = []
        for version in (second, first, first):
            active = await definitions.activate("default", "order", version.version)
            assert active.version == version
            assert await definitions.active("default", "order") == active
            revisions.append(active.revision)
        assert revisions == sorted(set(revisions))

    async def test_publishing_does_not_activate(self, subject: Subject) -> None:
        definitions = subject.store.definitions
        await definitions.publish("default", "order", "flow", {"n": 1}, "h1", None)
        assert await definitions.active("default", "order") is None
        active = await definitions.activate("default", "order", 1)
        await definitions.publish("default", "order", "flow", {"n": 2}, "h2", None)
        assert await definitions.active("default", "order") == active

    @pytest.mark.parametrize("version", [0, 2, -1])
    async def test_a_version_that_does_not_exist_cannot_be_activated(self, subject: Subject, version: int) -> None:
        definitions = subject.store.definitions
        await definitions.publish("default", "order", "flow", {}, "h", None)
        with pytest.raises(NotFound):
            await definitions.activate("default", "order", version)
        with pytest.raises(NotFound):
            await definitions.activate("other", "order", 1)
        assert await definitions.active("default", "order") is None

    async def test_definitions_are_listed_in_order_of_ids(self, subject: Subject) -> None:
        definitions = subject.store.definitions
        for name in ("b", "d", "a", "c"):
            await definitions.save_draft("default", name, "flow", {"name": f"The {name}"})
        await definitions.save_draft("other", "z", "flow", {})

        assert [each.id for each in await definitions.list("default")] == ["a", "b", "c", "d"]
        assert [each.id for each in await definitions.list("default", after="a", limit=2)] == ["b", "c"]
        assert [each.id for each in await definitions.list("default", after="d")] == []

    async def test_a_summary_says_what_there_is(self, subject: Subject) -> None:
        definitions = subject.store.definitions
        await definitions.save_draft("default", "a", "flow", {"name": "A ✓"})
        await definitions.publish("default", "b", "lifecycle", {"name": 7}, "h1", None)
        await definitions.publish("default", "b", "lifecycle", {}, "h2", None)
        subject.clock.advance(5)
        await definitions.activate("default", "b", 1)

        a, b = await definitions.list("default")

        assert (a.kind, a.name, a.latest, a.active, a.has_draft) == ("flow", "A ✓", None, None, True)
        assert (b.kind, b.name, b.latest, b.active, b.has_draft) == ("lifecycle", None, 2, 1, False)
        assert (a.updated_at, b.updated_at) == (BEGIN, BEGIN + 5)

    async def test_parts_stand_apart_from_flows(self, subject: Subject) -> None:
        definitions = subject.store.definitions
        for id, kind in (("order", "flow"), ("script", "flow"), ("zebra", "flow")):
            await definitions.save_draft("default", id, kind, {})
        for part in ("script:order", "script:Zebra", "scripts:order", "node:order", "lookups:all"):
            await definitions.publish("default", part, part.partition(":")[0], {"of": part}, part, None)
        await definitions.save_draft("elsewhere", "script:order", "script", {})

        listed = [each.id for each in await definitions.list("default")]
        scripts = [each.id for each in await definitions.list("default", kind="script")]
        after = [each.id for each in await definitions.list("default", "script:Zebra", kind="script")]
        first = [each.id for each in await definitions.list("default", limit=1, kind="script")]

        assert listed == ["order", "script", "zebra"]
        assert scripts == ["script:Zebra", "script:order"]
        assert (after, first) == (["script:order"], ["script:Zebra"])
        assert [each.id for each in await definitions.list("default", kind="node")] == ["node:order"]
        assert list(await definitions.list("default", kind="nothing")) == []
        newest = await definitions.version("default", "script:order")
        assert newest is not None
        assert newest.document == {"of": "script:order"}

    async def test_of_publishers_who_have_seen_the_same_version_one_is_next(self, subject: Subject) -> None:
        async def publish(n: int, newest: int | None) -> int:
            found = await subject.store.definitions.publish(
                "default", "lookups:all", "lookups", {"n": n}, f"h{n}", None, newest
            )
            return found.version

        first = await asyncio.gather(*(publish(n, 0) for n in range(8)), return_exceptions=True)
        assert [each for each in first if not isinstance(each, Conflict)] == [1]
        second = await asyncio.gather(*(publish(n, 1) for n in range(10, 18)), return_exceptions=True)
        assert [each for each in second if not isinstance(each, Conflict)] == [2]
        with pytest.raises(Conflict):
            await publish(20, 0)
        with pytest.raises(Conflict):
            await publish(20, 5)
        assert await publish(20, None) == 3
        assert await publish(20, 0) == 3  # the same again is the same, whatever was seen
