/** What every client of a person shows of a conversation: its rows, its state, and what helps to write a message. */
export { acpModelsOf, type AcpModels } from "./composer/acp-models.ts";
export { actOnCommand, type CommandResult } from "./composer/act-on-command.ts";
export {
  completed,
  completionTargetAt,
  ranked,
  type CompletionTarget,
  type Suggest,
  type Suggestion,
} from "./composer/completion.ts";
export { sendChoice } from "./composer/send-choice.ts";
export {
  commandNames,
  commands,
  parseCommand,
  type Command,
  type CommandName,
} from "./composer/slash-commands.ts";
export { suggestFor } from "./composer/suggest-for.ts";
export { liveOptions } from "./view/live-options.ts";
export {
  baseOf,
  changedFiles,
  digestOf,
  filesOf,
  type ChangedFile,
  type ChangePlace,
  type ChangeScope,
} from "./view/changed-files.ts";
export { acpCallKind, observationOfAcpCall, rowOfAcpCall } from "./view/acp-call.ts";
export {
  emptyView,
  type ConversationView,
  type HeldMessage,
  type ModelRetry,
  type OpenAction,
} from "./view/conversation-view.ts";
export { editsOf, type Edit } from "./view/edits.ts";
export { eventBefore } from "./view/event-before.ts";
export { foldPlan } from "./view/fold-plan.ts";
export { foldTaskList, tasksOf, type Task } from "./view/fold-task-list.ts";
export { foldTurns, hasFailed, isFinish, lastWord, numbersOf, type Turn } from "./view/fold-turns.ts";
export { foldEvents, foldItem, viewOf, waitingActions } from "./view/fold-view.ts";
export { hostsAsked, type AskedHosts } from "./view/hosts-asked.ts";
export type { LiveAnswer, LiveItem } from "./view/live-answer.ts";
export { locateEdit } from "./view/locate-edit.ts";
export { findOffBranchRows } from "./view/off-branch-rows.ts";
export { foldRows, RowFold } from "./view/row-fold.ts";
export { partsText, summaryOf } from "./view/row-of-event.ts";
export { taskOf, type ActionRow, type MessageRow, type Outcome, type Row } from "./view/row.ts";
export {
  baseName,
  pathWithin,
  shownCost,
  shownCount,
  shownDuration,
  shownPercent,
  shownSize,
} from "./view/shown-numbers.ts";
export { spendOf, type Spend } from "./view/spend.ts";
export {
  acpCommandOf,
  firstLine,
  foundCount,
  isReadOnly,
  isSearch,
  summarizeCall,
  type Icon,
} from "./view/summarize-call.ts";
export {
  asRecord,
  listAt,
  numberAt,
  recordAt,
  textAt,
  textsAt,
  type UnknownRecord,
} from "./view/unknown-record.ts";
