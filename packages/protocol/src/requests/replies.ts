import { Type, type Static } from "typebox";
import { flag, list, object, ref } from "../schema.ts";

/** The request was carried out. */
export const Success = object("Success", { success: flag(true) });
export type Success = Static<typeof Success>;

export const FileUploadResult = object("FileUploadResult", {
  success: flag(true),
  /** In bytes. */
  file_size: Type.Integer(),
});
export type FileUploadResult = Static<typeof FileUploadResult>;

/** One error of a request; `loc` is its path from `body`, `query` or `path`. */
export const ValidationError = object("ValidationError", {
  loc: Type.Array(Type.Union([Type.String(), Type.Integer()])),
  msg: Type.String(),
  type: Type.String(),
});
export type ValidationError = Static<typeof ValidationError>;

/** All errors of a request. */
export const HTTPValidationError = object("HTTPValidationError", { detail: list(ref(ValidationError)) });
export type HTTPValidationError = Static<typeof HTTPValidationError>;

/** The form of all other refusals; `exception` and `error_id` are present for server errors (500 and above). */
export const ErrorReply = object("ErrorReply", {
  detail: Type.String(),
  exception: Type.Optional(Type.String()),
  error_id: Type.Optional(Type.String()),
});
export type ErrorReply = Static<typeof ErrorReply>;
