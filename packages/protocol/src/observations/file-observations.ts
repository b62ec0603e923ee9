import { Type, type Static } from "typebox";
import { fileEditorCommands } from "../actions/file-actions.ts";
import { choice, flag, list, object, orNull, ref } from "../schema.ts";
import { observation } from "./observation-fields.ts";

const contents = { old_content: orNull(Type.String()), new_content: orNull(Type.String()) };

const fileEditorResult = {
  command: choice(fileEditorCommands),
  path: orNull(Type.String()),
  prev_exist: flag(true, { description: "Whether the file was there before." }),
  ...contents,
};

/** The result of a file editor command; contents are complete, even if the model got them cut. */
export const FileEditorObservation = observation("FileEditorObservation", fileEditorResult);
export type FileEditorObservation = Static<typeof FileEditorObservation>;

/** The same for the file editor of a planning agent. */
export const PlanningFileEditorObservation = observation("PlanningFileEditorObservation", fileEditorResult);
export type PlanningFileEditorObservation = Static<typeof PlanningFileEditorObservation>;

export const EditObservation = observation("EditObservation", {
  file_path: orNull(Type.String()),
  is_new_file: flag(false),
  replacements_made: Type.Optional(Type.Integer({ default: 0 })),
  ...contents,
});
export type EditObservation = Static<typeof EditObservation>;

export const WriteFileObservation = observation("WriteFileObservation", {
  file_path: orNull(Type.String()),
  is_new_file: flag(false),
  ...contents,
});
export type WriteFileObservation = Static<typeof WriteFileObservation>;

const lineRange = Type.Unsafe<[number, number]>({
  type: "array",
  prefixItems: [Type.Integer(), Type.Integer()],
  minItems: 2,
  maxItems: 2,
});

export const ReadFileObservation = observation("ReadFileObservation", {
  file_path: Type.String(),
  file_content: Type.Optional(Type.String({ default: "" })),
  is_truncated: flag(false),
  lines_shown: orNull(lineRange, { description: "First and last line shown, counted from 1." }),
  total_lines: orNull(Type.Integer()),
});
export type ReadFileObservation = Static<typeof ReadFileObservation>;

/** One entry of a directory; `size` is in bytes. */
export const FileEntry = object("FileEntry", {
  name: Type.String(),
  path: Type.String(),
  is_directory: Type.Boolean(),
  size: Type.Integer(),
  modified_time: Type.String({ format: "date-time" }),
});
export type FileEntry = Static<typeof FileEntry>;

export const ListDirectoryObservation = observation("ListDirectoryObservation", {
  dir_path: orNull(Type.String()),
  entries: list(ref(FileEntry)),
  total_count: Type.Optional(Type.Integer({ default: 0 })),
  is_truncated: flag(false),
});
export type ListDirectoryObservation = Static<typeof ListDirectoryObservation>;
