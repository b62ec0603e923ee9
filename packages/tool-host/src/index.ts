export { createInProcessHost } from "./in-process-host.ts";
export type { InProcessHostDeps } from "./in-process-host.ts";
export { defaultToolNames, defaultTools, toolSetMembers } from "./catalogue.ts";
export { browserToolSetName } from "./tools/browser/browser-tool-set.ts";
export { chromiumFix, findChromium } from "./tools/browser/find-chromium.ts";
export { loadTerminal } from "./tools/terminal/load-terminal.ts";
export { innerAddress } from "./inner-address.ts";
export { listSession } from "./list-session.ts";
export { listTool } from "./list-tool.ts";
export { placesOf } from "./place-of.ts";
export { pathsIn as pathsInPatch } from "./tools/apply-patch/parse-patch.ts";
export { readExecutions, type RecordedExecution } from "./read-executions.ts";
export { trustedKeyVariable } from "./trusted-key.ts";
export type { ToolTraits } from "./tool-traits.ts";
export { settle } from "./settle.ts";
export { UnknownToolError } from "./host.ts";
export type {
  ExecuteOptions,
  ExecutionRequest,
  ExecutionState,
  Outcome,
  SessionSpec,
  SessionTool,
  ToolHost,
  ToolListing,
  ToolSession,
} from "./host.ts";
export type { BrowserUpdate } from "./browser-attachment.ts";
export { NewestUpdates } from "./newest-updates.ts";
export type { TerminalSize, TerminalUpdate } from "./terminal-attachment.ts";
export { egressPort } from "./egress-listener.ts";
export { facesOf, ToolInputError } from "./tool.ts";
export type {
  Tool,
  ToolCall,
  ToolContext,
  ToolFace,
  ToolInstance,
  ToolSecret,
  ToolSet,
  TerminalInfo,
} from "./tool.ts";
export { allowedEnvironment } from "./processes/allowed-environment.ts";
export { openGuardian } from "./processes/guardian.ts";
export { collectOrphans, createMarker } from "./processes/collect-orphans.ts";
export type { Guardian, GuardianOptions } from "./processes/guardian.ts";
export type { PipedProcess, ProcessEnd, ProcessSpec } from "./processes/piped-process.ts";
export type { ListeningPort } from "./processes/listening-ports.ts";
export type { PersonShell, ShellInput, ShellSpec } from "./processes/person-shell.ts";
export { attachPerson } from "./attach-person.ts";
export { LiveView } from "./tools/terminal/live-view.ts";
export { signalProcesses } from "./processes/end-processes.ts";
export { findMarkedProcesses, listProcesses, readCommandLine, readProcess } from "./system/process-table.ts";
export type { ProcessEntry } from "./system/process-table.ts";
export { LiveMask } from "./processes/live-mask.ts";
export { hiddenMark, maskCutText, maskText, SecretMask } from "./processes/mask.ts";
export { clipText, shortNotice, textLimits, truncateText } from "./text/truncate.ts";
export type { TruncateOptions } from "./text/truncate.ts";
export { openHostStream } from "./rpc/connect-target.ts";
export { connectToolHost, openToolHost } from "./rpc/connect-host.ts";
export type { ConnectOptions, LateToolHost, RemoteToolHost } from "./rpc/connect-host.ts";
export { ToolHostRefusedError, ToolHostUnreachableError } from "./rpc/connection-errors.ts";
export { serveToolHost } from "./rpc/serve-host.ts";
export type { Served, ServeOptions } from "./rpc/serve-host.ts";
export { openLocalBash } from "./bash/local-bash.ts";
export type { LocalBashDeps } from "./bash/local-bash.ts";
export { createBashId } from "./bash/bash-log.ts";
export type { Bash, BashEntry, BashPage, BashQuery, BashRequest } from "./bash/bash.ts";
export { hideFolder } from "./workspace/hidden-files.ts";
export { createLocalWorkspace } from "./workspace/local-workspace.ts";
export type { LocalWorkspaceDeps } from "./workspace/local-workspace.ts";
export { WorkspaceError } from "./workspace/workspace.ts";
export type {
  ByteRange,
  DiffBase,
  DirectoryEntry,
  FileStat,
  OpenFile,
  Workspace,
  WorkspaceProblem,
  LeftOut,
  RepositoryHead,
} from "./workspace/workspace.ts";
export { tarEntries } from "./workspace/tar-entries.ts";
export { firstZipTimeMs, openZipWriter } from "./workspace/zip-writer.ts";
