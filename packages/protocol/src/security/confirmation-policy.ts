import { Type, type Static } from "typebox";
import { flag, closedInputOfKind, outputOfKind, ref, unionByKind } from "../schema.ts";
import { SecurityRisk } from "./security-risk.ts";

const riskyFields = {
  threshold: Type.Optional(ref(SecurityRisk, { default: "HIGH" })),
  confirm_unknown: flag(true, { description: "Whether an unknown risk needs a confirmation too." }),
};

/** Every action needs confirmation. */
export const AlwaysConfirm = outputOfKind("AlwaysConfirm", {});
export type AlwaysConfirm = Static<typeof AlwaysConfirm>;
export const AlwaysConfirmInput = closedInputOfKind("AlwaysConfirm", {});
export type AlwaysConfirmInput = Static<typeof AlwaysConfirmInput>;

/** Actions at or above a risk need confirmation. */
export const ConfirmRisky = outputOfKind("ConfirmRisky", riskyFields);
export type ConfirmRisky = Static<typeof ConfirmRisky>;
export const ConfirmRiskyInput = closedInputOfKind("ConfirmRisky", riskyFields);
export type ConfirmRiskyInput = Static<typeof ConfirmRiskyInput>;

/** No action needs confirmation. */
export const NeverConfirm = outputOfKind("NeverConfirm", {});
export type NeverConfirm = Static<typeof NeverConfirm>;
export const NeverConfirmInput = closedInputOfKind("NeverConfirm", {});
export type NeverConfirmInput = Static<typeof NeverConfirmInput>;

/** Which actions need confirmation. */
export const ConfirmationPolicy = unionByKind("ConfirmationPolicyBase-Output", {
  "openhands__sdk__security__confirmation_policy__AlwaysConfirm-Output__1": AlwaysConfirm,
  "openhands__sdk__security__confirmation_policy__ConfirmRisky-Output__1": ConfirmRisky,
  "openhands__sdk__security__confirmation_policy__NeverConfirm-Output__1": NeverConfirm,
});
export type ConfirmationPolicy = Static<typeof ConfirmationPolicy>;

export const ConfirmationPolicyInput = unionByKind("ConfirmationPolicyBase-Input", {
  "openhands__sdk__security__confirmation_policy__AlwaysConfirm-Input__1": AlwaysConfirmInput,
  "openhands__sdk__security__confirmation_policy__ConfirmRisky-Input__1": ConfirmRiskyInput,
  "openhands__sdk__security__confirmation_policy__NeverConfirm-Input__1": NeverConfirmInput,
});
export type ConfirmationPolicyInput = Static<typeof ConfirmationPolicyInput>;
