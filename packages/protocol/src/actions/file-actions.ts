import { Type, type Static } from "typebox";
import { choice, flag, orNull } from "../schema.ts";
import { action } from "./action-fields.ts";

/** What the file editor can do. */
export const fileEditorCommands = ["view", "create", "str_replace", "insert", "undo_edit"] as const;
export type FileEditorCommand = (typeof fileEditorCommands)[number];

const fileEditorArguments = {
  command: choice(fileEditorCommands, {
    description:
      "view shows a file or a directory, create writes a new file, str_replace exchanges one passage, insert adds lines, undo_edit takes back the last edit of the file.",
  }),
  path: Type.String({ description: "Absolute path of the file or directory." }),
  file_text: orNull(Type.String(), { description: "For create: the whole text of the new file." }),
  old_str: orNull(Type.String(), {
    description:
      "For str_replace: the passage to replace, exactly as it stands in the file, with enough lines around it to occur only once.",
  }),
  new_str: orNull(Type.String(), {
    description:
      "For str_replace: the text to put in place of old_str; leave out to delete it. For insert: the text to add.",
  }),
  insert_line: orNull(Type.Integer({ minimum: 0 }), {
    description: "For insert: the number of the line after which the text goes; 0 puts it first.",
  }),
  view_range: orNull(Type.Array(Type.Integer()), {
    description:
      "For view of a file: first and last line, counted from 1; -1 as the last means the end of the file.",
  }),
};

/** View, create and edit files anywhere in the workspace. */
export const FileEditorAction = action("FileEditorAction", fileEditorArguments);
export type FileEditorAction = Static<typeof FileEditorAction>;

/** The file editor of a planning agent: it may view everything and edit only its plan. */
export const PlanningFileEditorAction = action("PlanningFileEditorAction", fileEditorArguments);
export type PlanningFileEditorAction = Static<typeof PlanningFileEditorAction>;

/** Replace text in a file a stated number of times. */
export const EditAction = action("EditAction", {
  file_path: Type.String({ description: "Path of the file to change." }),
  old_string: Type.String({
    description: "The exact text to replace; empty to create a file that does not exist yet.",
  }),
  new_string: Type.String({ description: "The text to put in its place." }),
  expected_replacements: Type.Optional(
    Type.Integer({
      minimum: 0,
      default: 1,
      description: "How often old_string must occur; any other count changes nothing.",
    }),
  ),
});
export type EditAction = Static<typeof EditAction>;

/** Read a file, or a range of its lines. */
export const ReadFileAction = action("ReadFileAction", {
  file_path: Type.String({ description: "Path of the file to read." }),
  offset: orNull(Type.Integer({ minimum: 0 }), { description: "How many lines to skip from the start." }),
  limit: orNull(Type.Integer({ minimum: 1 }), { description: "How many lines to return at most." }),
});
export type ReadFileAction = Static<typeof ReadFileAction>;

/** Write a whole file, replacing what was there. */
export const WriteFileAction = action("WriteFileAction", {
  file_path: Type.String({ description: "Path of the file to write; missing folders are made." }),
  content: Type.String({ description: "The whole new text of the file." }),
});
export type WriteFileAction = Static<typeof WriteFileAction>;

/** List the entries of a directory. */
export const ListDirectoryAction = action("ListDirectoryAction", {
  dir_path: Type.Optional(Type.String({ default: ".", description: "The directory to list." })),
  recursive: flag(false, { description: "True to list the subdirectories too, two levels deep." }),
});
export type ListDirectoryAction = Static<typeof ListDirectoryAction>;
