import { useState } from "react";
import { careOf, cares, type Care } from "../lib/care.ts";
import { asLoose, textAt } from "../lib/loose.ts";
import { repositoryOf } from "./fetch-repository.ts";
import { useServices } from "../services/services.ts";

const choicesKey = "choices";

/** How a conversation begins. Without a folder of one's own it is the one that the server names. */
export type Choices = { readonly folder: string | null; readonly profile: string; readonly care: Care };

/** The choices of the last conversation. */
export function useChoices(): readonly [Choices, (choices: Choices) => void] {
  const { keep } = useServices();
  const [choices, setChoices] = useState<Choices>(() => {
    const stored = asLoose(keep.read(choicesKey));
    return {
      folder: textAt(stored, "folder") || null,
      profile: textAt(stored, "profile"),
      care: cares.find((care) => care === stored?.["care"]) ?? careOf(""),
    };
  });
  const choose = (next: Choices): void => {
    setChoices(next);
    // An address is for one conversation, and may hold what a browser should not keep.
    const isFolder = next.folder === null || repositoryOf(next.folder) === null;
    keep.write(choicesKey, isFolder ? next : { ...next, folder: null });
  };
  return [choices, choose];
}
