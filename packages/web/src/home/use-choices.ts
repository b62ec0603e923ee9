import { useState } from "react";
import { approvalModeOf, approvalModes, type ApprovalMode } from "../lib/approval-mode.ts";
import { asRecord, textAt } from "../lib/unknown-record.ts";
import { repositoryOf } from "./fetch-repository.ts";
import { useServices } from "../services/services.ts";

const choicesKey = "choices";

/** How a conversation begins. Without a folder of one's own it is the one that the server names. */
export type Choices = {
  readonly folder: string | null;
  readonly profile: string;
  readonly care: ApprovalMode;
};

/** The choices of the last conversation. */
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
    // An address is for one conversation, and may hold what a browser should not keep.
    const isFolder = next.folder === null || repositoryOf(next.folder) === null;
    storage.write(choicesKey, isFolder ? next : { ...next, folder: null });
  };
  return [choices, choose];
}
