"""What does an editor get? Findings as it types, the inferred shape on hover, and a comment that ignores a finding.

The only module that needs pygls; `symbolic lsp` runs it over stdin and stdout.
"""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from lsprotocol import types
from pygls.lsp.server import LanguageServer

import symbolic
from symbolic.static import settings
from symbolic.static.files import shown
from symbolic.static.formats import severity
from symbolic.static.runs import examined, told
from symbolic.static.sources import Source, Sources
from symbolic.static.suppression import ignores, ignoring, name_of

if TYPE_CHECKING:
    from symbolic.static.findings import Hover, Located

__all__ = ["Server", "serve"]

_PAUSE = 0.2
"""Seconds without a key before a file is checked again."""
_SEVERITIES = {"error": types.DiagnosticSeverity.Error, "warning": types.DiagnosticSeverity.Warning}


class Seen(NamedTuple):
    """What is known of a document in one of its versions."""

    text: str
    findings: list[Located]
    hovers: list[Hover]
    reads: frozenset[str]
    """The files whose modules were read for it."""


class Server(LanguageServer):
    """One editor's server: what it has seen of each document."""

    one_at_a_time: Any

    def __init__(self) -> None:
        super().__init__("symbolic", symbolic.__version__)
        self.seen: dict[str, Seen] = {}
        self.complaints: set[str] = set()
        self.one_at_a_time = ThreadPoolExecutor(1)

    async def refresh(self, uri: str, pause: float = 0.0) -> None:
        """Check a document and publish what is found, unless a key is pressed meanwhile."""
        version = self.workspace.get_text_document(uri).version
        await asyncio.sleep(pause)
        if self._is_stale(uri, version):
            return
        loop = asyncio.get_running_loop()
        seen = await loop.run_in_executor(self.one_at_a_time, self.look, uri)
        if self._is_stale(uri, version):
            return
        self.seen[uri] = seen
        found = [self._diagnostic(one, seen, uri) for one in seen.findings]
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))

    async def refresh_readers(self, uri: str) -> None:
        """The open documents that import a changed one."""
        path = self.workspace.get_text_document(uri).path
        for other in [one for one, seen in self.seen.items() if one != uri and path in seen.reads]:
            await self.refresh(other)

    def _is_stale(self, uri: str, version: int | None) -> bool:
        documents = self.workspace.text_documents
        return uri not in documents or documents[uri].version != version

    def look(self, uri: str) -> Seen:
        """Check a document as it stands in the editor, with the other open ones."""
        documents = self.workspace.text_documents
        unsaved = {one.path: Source(one.source.encode("utf-8", "replace")) for one in list(documents.values())}
        path, text = documents[uri].path, _with_plain_ends(documents[uri].source)
        root = self.workspace.root_path or os.path.dirname(path)
        chosen = self._settings(root)
        if chosen.excluded()(path):
            return Seen(text, [], [], frozenset())
        sources = Sources((root, os.path.join(root, "src")), unsaved)
        try:
            checked, modules = examined(text, path, shown(path, root), sources)
        except Exception as error:  # the editor goes on; the next version of the text may do better
            self.complain(f"checking {shown(path, root)} failed inside: {told(error)}; report it")
            return Seen(text, [], [], frozenset())
        findings = chosen.left(checked.findings, ignores(text), path)
        reads = frozenset(filter(None, [sources.module(name, path) for name in modules]))
        return Seen(text, findings, checked.hovers, reads)

    def _settings(self, root: str) -> settings.Settings:
        try:
            return settings.read_near(root)
        except settings.SettingsError as error:
            self.complain(str(error))
            return settings.Settings()

    def complain(self, message: str) -> None:
        """Each message once: a document is checked at every pause."""
        if message not in self.complaints:
            self.complaints.add(message)
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"symbolic: {message}"))

    def _diagnostic(self, one: Located, seen: Seen, uri: str) -> types.Diagnostic:
        return types.Diagnostic(
            range=self.range_of(one, seen),
            message=one.message,
            severity=_SEVERITIES[severity(one)],
            code=name_of(one),
            source="symbolic",
            related_information=[
                types.DiagnosticRelatedInformation(types.Location(uri, self._whole_line(line)), note)
                for line, note in one.notes
            ],
        )

    def range_of(self, one: Located | Hover, seen: Seen) -> types.Range:
        start = self.position(one.line, one.column, seen)
        return types.Range(start, self.position(one.end_line, one.end_column, seen))

    def _whole_line(self, line: int) -> types.Range:
        return types.Range(types.Position(line - 1, 0), types.Position(line, 0))

    def position(self, line: int, column: int, seen: Seen) -> types.Position:
        """Ours counts characters from 1, the editor's its own units from 0."""
        lines = seen.text.split("\n")
        text = lines[line - 1] if 0 < line <= len(lines) else ""
        units = self.workspace.position_codec.client_num_units(text[: column - 1])
        return types.Position(max(line - 1, 0), units)


def _with_plain_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def serve() -> None:
    """Serve one editor until it ends."""
    made().start_io()


def made() -> Server:
    """A server that answers."""
    server = Server()
    _on_documents(server)
    _on_questions(server)
    return server


def _on_documents(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        await server.refresh(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        await server.refresh(params.text_document.uri, _PAUSE)
        await server.refresh_readers(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: types.DidSaveTextDocumentParams) -> None:
        await server.refresh(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        server.seen.pop(uri, None)
        server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))


def _on_questions(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(params: types.HoverParams) -> types.Hover | None:
        if (seen := _current(server, params.text_document.uri)) is None:
            return None
        around = [one for one in seen.hovers if _holds(server.range_of(one, seen), params.position)]
        if not around:
            return None
        inner = min(around, key=lambda one: (one.end_line - one.line, one.end_column - one.column))
        content = types.MarkupContent(types.MarkupKind.Markdown, f"```python\n{inner.text}\n```")
        return types.Hover(content, server.range_of(inner, seen))

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
    )
    def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri
        if (seen := _current(server, uri)) is None:
            return []
        ours = [one for one in params.context.diagnostics if one.source == "symbolic"]
        return [_action(server, one, seen, uri) for one in ours]


def _current(server: Server, uri: str) -> Seen | None:
    """What is known of a document, if it has not changed since."""
    seen = server.seen.get(uri)
    document = server.workspace.text_documents.get(uri)
    return seen if seen and document and _with_plain_ends(document.source) == seen.text else None


def _holds(where: types.Range, position: types.Position) -> bool:
    at = (position.line, position.character)
    return (where.start.line, where.start.character) <= at < (where.end.line, where.end.character)


def _action(server: Server, one: types.Diagnostic, seen: Seen, uri: str) -> types.CodeAction:
    name = str(one.code)
    line, column, text = ignoring(seen.text, one.range.start.line + 1, name)
    place = server.position(line, column, seen)
    return types.CodeAction(
        title=f"Ignore {name} here",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[one],
        edit=types.WorkspaceEdit(changes={uri: [types.TextEdit(types.Range(place, place), text)]}),
    )
