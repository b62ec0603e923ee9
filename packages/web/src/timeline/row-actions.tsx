import { Ellipsis } from "lucide-react";
import { copyText } from "../lib/copy-text.ts";
import { linkTo } from "../lib/link-to.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { Menu } from "../ui/menu.tsx";
import { useMoreWords } from "../words/words.ts";
import type { RowMenu } from "./row-menu.ts";

export type RowActionsProps = {
  readonly id: string;
  readonly text: string;
  /** True for the user's messages; false for answers. */
  readonly isMessage: boolean;
  readonly menu: RowMenu;
};

/** Actions on a message. */
export default function RowActions({ id, text, isMessage, menu }: RowActionsProps) {
  const words = useMoreWords().message;
  const entries = [
    isMessage
      ? { label: words.editAndBranch, onChoose: () => menu.editAndBranch(id, text) }
      : { label: words.goBack, onChoose: () => menu.goBack(id) },
    { label: words.fork, onChoose: () => menu.fork(id) },
    ...(isMessage ? [] : [{ label: words.showContext, onChoose: () => menu.showContext(id) }]),
    { label: words.copyLink, onChoose: () => void copyText(linkTo(id)) },
    { label: words.showEvent, onChoose: () => menu.showEvent(id) },
  ];
  return (
    <>
      <CopyButton text={text} />
      <Menu label={words.menu} icon={<Ellipsis size={14} />} entries={entries} />
    </>
  );
}
