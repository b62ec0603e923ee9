import { ErrorReply, HTTPValidationError, Success } from "../requests/replies.ts";

/** The request is invalid; `detail` says where. */
export const invalid = {
  422: { description: "The request is not valid.", schema: HTTPValidationError },
} as const;

/** Missing, or not the caller's. */
export const noConversation = {
  404: { description: "There is no such conversation.", schema: ErrorReply },
} as const;

/** The conversation is busy with something that excludes the request. */
export const conflict = {
  409: { description: "The conversation cannot do this now.", schema: ErrorReply },
} as const;

/** Done, without a result. */
export const done = { 200: { description: "Done.", schema: Success } } as const;

/** A model was needed and did not answer. */
export const modelFailed = {
  503: { description: "The model gave no answer.", schema: ErrorReply },
} as const;

/** Refusals of access to the machine. */
export const machineRefusals = {
  403: {
    description: "The caller may not use this machine, or its files do not let the server in.",
    schema: ErrorReply,
  },
} as const;

/** Errors about a path. */
export const pathRefusals = {
  400: { description: "The path cannot be used for this.", schema: ErrorReply },
  404: { description: "Nothing is there.", schema: ErrorReply },
} as const;
