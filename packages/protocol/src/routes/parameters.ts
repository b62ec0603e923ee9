import { Type } from "typebox";

/** The path parameter of routes below one conversation. */
export const conversationParams = Type.Object({ conversation_id: Type.String({ format: "uuid" }) });

/** Limits of a page's size. */
export const pageLimit = Type.Optional(Type.Integer({ exclusiveMinimum: 0, maximum: 100, default: 100 }));
