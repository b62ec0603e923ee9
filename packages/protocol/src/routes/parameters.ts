import { Type } from "typebox";

/** The path parameter of everything below one conversation. */
export const conversationParams = Type.Object({ conversation_id: Type.String({ format: "uuid" }) });

/** How many items a page may have. */
export const pageLimit = Type.Optional(Type.Integer({ exclusiveMinimum: 0, maximum: 100, default: 100 }));
