import { shownCost, shownCount, spendOf, type ConversationView } from "@convoke/client/view";
import type { WallInfo } from "@convoke/protocol";
import { printable } from "../../print/printable.ts";
import type { Theme } from "../screen/theme.ts";

export type Status = {
  readonly view: ConversationView;
  readonly wall: WallInfo | undefined;
  /** What the wall lets out, in words; null where there is no wall. */
  readonly network: string | null;
  /** Set while the server does not answer. */
  readonly lost: string | null;
};

const policyNames: Readonly<Record<string, string>> = {
  NeverConfirm: "never asks",
  ConfirmRisky: "asks: risky",
  AlwaysConfirm: "asks: always",
};

export function policyName(policy: string): string {
  return policyNames[policy] ?? policy;
}

/** Model, wall, network, when it asks, context, tokens, cost. */
export function statusLine({ view, wall, network, lost }: Status, { paint, signs }: Theme): string {
  const { cost, promptTokens, completionTokens, contextTokens, contextWindow } = spendOf(view);
  const tokens = promptTokens + completionTokens;
  const context = contextWindow > 0 ? `${shownCount(contextTokens)}/${shownCount(contextWindow)}` : null;
  const parts = [
    view.model?.split("/").slice(1).join("/") || view.model,
    wall === undefined || wall.kind === "none" ? "no wall" : wall.kind,
    network,
    view.isPlanning ? "plans only" : policyName(view.policy),
    context,
    tokens > 0 ? `${shownCount(tokens)} tokens` : null,
    view.budget !== null
      ? `${shownCost(cost)} of ${shownCost(view.budget)}`
      : cost > 0
        ? shownCost(cost)
        : null,
  ];
  const text = parts
    .flatMap((part) => (part === null || part === "" ? [] : [printable(part)]))
    .join(signs.dot);
  return `${lost === null ? "" : paint.yellow(`${lost}${signs.dot}`)}${paint.dim(text)}`;
}
