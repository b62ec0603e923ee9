import { useState } from "react";
import { asRecord, textAt } from "@convoke/client/view";
import { approvalModeOf, approvalModes, type ApprovalMode } from "../lib/approval-mode.ts";
import { repositoryOf } from "./fetch-repository.ts";
import { useServices } from "../services/services.ts";

const choicesKey = "choices";

/** Options of a new conversation. The folder defaults to the one that the server names. */
export type Choices = {
  readonly folder: string | null;
  readonly profile: string;
  readonly care: ApprovalMode;
};

/** The options of the last conversation. */
export function useChoices(): readonly [Choices, (choices: Choices) => void] {
  const { storage } = useServices();
  const [choices, setChoices] = useState<Choices>(() => {
    const stored = asRecord(storage.read(choicesKey));
    return {
      folder: textAt(stored, "folder") || null,
      profile: textAt(stored, "profile"),
      care: approvalModes.find((care) => care === stored?.["care"]) ?? approvalModeOf(""),
    };
  });
  const choose = (next: Choices): void => {
    setChoices(next);
    // Repository URLs are not stored: they are for one conversation, and may contain secrets.
    const isFolder = next.folder === null || repositoryOf(next.folder) === null;
    storage.write(choicesKey, isFolder ? next : { ...next, folder: null });
  };
  return [choices, choose];
}
