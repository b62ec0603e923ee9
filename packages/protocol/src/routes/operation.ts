import type { Static, TSchema } from "typebox";
import type { agentFaceRoutes, appFaceRoutes } from "./face-routes.ts";

/**
 * The route tables as types: the operations, inputs and outputs of a typed client. Nothing here exists at run time, so a page loads
 * no schemas.
 */

type Tables = typeof agentFaceRoutes & typeof appFaceRoutes;
type AnyRoute = Tables[keyof Tables];
type ByAddress = { readonly [R in AnyRoute as `${R["method"]} ${R["path"]}`]: R };

/** Every operation by method and path, such as `GET /api/conversations/{conversation_id}/queue`. */
export type Operation = keyof ByAddress;

type StaticOf<R, Part extends string> = R extends { readonly [P in Part]: infer S extends TSchema }
  ? Static<S>
  : never;
/** No input, optional input, or required input. */
type Given<Name extends string, Value> = [Value] extends [never]
  ? { readonly [N in Name]?: undefined }
  : Partial<Value> extends Value
    ? { readonly [N in Name]?: Value }
    : { readonly [N in Name]: Value };

type Body<R> = R extends { readonly isBodyOptional: true }
  ? { readonly body?: StaticOf<R, "body"> }
  : R extends { readonly form: TSchema }
    ? { readonly body: FormData }
    : Given<"body", StaticOf<R, "body">>;

/** The input of an operation: `params` of its path, `query`, and `body`, typed by their schemas. */
export type OperationInput<O extends Operation> = Given<"params", StaticOf<ByAddress[O], "params">> &
  Given<"query", StaticOf<ByAddress[O], "query">> &
  Body<ByAddress[O]>;

/** What the handler of a route reads of a request that was checked, typed by the schemas of the route. */
export type RouteInput<R> = {
  readonly params: Part<R, "params", Readonly<Record<string, string>>>;
  readonly query: Part<R, "query", Readonly<Record<string, unknown>>>;
  readonly body: R extends { readonly isBodyOptional: true }
    ? StaticOf<R, "body"> | undefined
    : Part<R, "body", unknown>;
};

type Part<R, Name extends string, Unspecified> = R extends { readonly [N in Name]: TSchema }
  ? StaticOf<R, Name>
  : Unspecified;

type Responses<O extends Operation> = ByAddress[O]["responses"];
type Success<O extends Operation> = Responses<O>[keyof Responses<O> & (200 | 201 | 202)];

/** The JSON of a successful reply; unknown when its schema is not declared. */
export type OperationReply<O extends Operation> = [Success<O>] extends [never]
  ? undefined
  : Success<O> extends { readonly schema: infer S extends TSchema }
    ? Static<S>
    : unknown;
