import { useMemo } from "react";
import { type Edit, locateEdit, type UnknownRecord } from "@convoke/client/view";
import { useFile } from "../services/use-file.ts";
import { DiffView } from "../diff/diff-view.tsx";

type PlannedDiffProps = {
  readonly edit: Edit;
  readonly action: UnknownRecord;
  readonly conversationId: string;
  readonly folder: string | null;
};

/** A proposed change, located in its file; without line numbers if it cannot be located. */
export function PlannedDiff({ edit, action, conversationId, folder }: PlannedDiffProps) {
  const path = edit.path.startsWith("/") || folder === null ? edit.path : `${folder}/${edit.path}`;
  const { content } = useFile(conversationId, path, "");
  const placed = useMemo(
    () => (content?.type === "text" && !content.isCut ? locateEdit(edit, action, content.text) : null),
    [edit, action, content],
  );
  return <DiffView change={placed ?? edit} path={edit.path} hasNumbers={placed !== null || edit.isNew} />;
}
