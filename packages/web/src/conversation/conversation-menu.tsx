import { Ellipsis } from "lucide-react";
import { Suspense, useState } from "react";
import { useLocation } from "wouter";
import type { ConversationView } from "@convoke/client";
import { lazyPart } from "../lib/lazy-part.ts";
import { conversationAddress } from "../lib/conversation-address.ts";
import { useStore } from "../lib/store.ts";
import { useServices } from "../services/services.ts";
import { Menu } from "../ui/menu.tsx";
import { useMoreWords, useWords } from "../words/words.ts";
import type { Attempt } from "./attempt.ts";

const DeleteDialog = lazyPart(() => import("./delete-dialog.tsx"));
const DownloadDialog = lazyPart(() => import("./download-dialog.tsx"));
const PolicyDialog = lazyPart(() => import("./policy-dialog.tsx"));
const ShareDialog = lazyPart(() => import("./share-dialog.tsx"));
const HoldDialog = lazyPart(() => import("./hold-dialog.tsx"));
const RenameDialog = lazyPart(() => import("./rename-dialog.tsx"));

type ConversationMenuProps = {
  readonly id: string;
  readonly state: ConversationView;
  readonly onAttempt: Attempt;
  readonly onFork: () => void;
  readonly onPanel: (name: string) => void;
  readonly onDeleted: () => void;
};

type Open = "hold" | "download" | "rename" | "delete" | "policy" | "share" | null;

/** The menu of a conversation and its dialogs. */
export default function ConversationMenu(props: ConversationMenuProps) {
  const { id, state, onAttempt, onFork, onPanel, onDeleted } = props;
  const {
    conversation: words,
    browser: { title: browser },
    events: { title: events },
    mcp: { title: mcp },
    outline: { title: outline },
    past: { title: then },
    preview: { title: preview },
    network: { title: network },
    shells: { title: shells },
    share: { title: share },
    trash: { put: toTrash },
    hold: { title: hold },
  } = useMoreWords();
  const { menu, changes, files } = useWords().conversation;
  const { client, overview } = useServices();
  const summary = useStore(overview).summaries.find((other) => other.id === id);
  const [, navigate] = useLocation();
  const [open, setOpen] = useState<Open>(null);
  const close = (): void => setOpen(null);
  const pin = { label: words.pin, body: { is_pinned: true } };
  const unpin = { label: words.unpin, body: { is_pinned: false } };
  const archive = { label: words.archive, body: { is_archived: true } };
  const unarchive = { label: words.unarchive, body: { is_archived: false } };
  // A conversation missing in the list is archived or old: its state is unknown.
  const marks = summary === undefined ? [archive, unarchive] : [summary.isPinned ? unpin : pin, archive];
  const params = { conversation_id: id };
  const showPast = (): void =>
    navigate(conversationAddress(id, location.search, { at: "", event: null, q: null }));
  const pause = (): void => void onAttempt(() => client.pause(id));
  const condense = (): void =>
    void onAttempt(() => client.call("POST /api/conversations/{conversation_id}/condense", { params }));
  const trash = (): void =>
    void onAttempt(() => client.call("POST /api/conversations/{conversation_id}/trash", { params })).then(
      (isDone) => isDone && onDeleted(),
    );
  const mark = (body: (typeof marks)[number]["body"]): void =>
    void onAttempt(() => client.call("PUT /api/conversations/{conversation_id}/marks", { params, body }));
  return (
    <>
      <Menu
        label={menu}
        icon={<Ellipsis size={16} />}
        groups={[
          {
            heading: words.groups.show,
            entries: [
              { label: outline, onChoose: () => onPanel("outline") },
              { label: changes, onChoose: () => onPanel("changes") },
              { label: files, onChoose: () => onPanel("files") },
              { label: browser, onChoose: () => onPanel("browser") },
              { label: mcp, onChoose: () => onPanel("mcp") },
              { label: network, onChoose: () => onPanel("network") },
              { label: preview, onChoose: () => onPanel("preview") },
              { label: shells, onChoose: () => onPanel("shells") },
              { label: then, onChoose: showPast },
              { label: events, onChoose: () => onPanel("events") },
            ],
          },
          {
            heading: words.groups.agent,
            entries: [
              ...(state.status === "running" ? [{ label: words.pause, onChoose: pause }] : []),
              { label: words.policy, onChoose: () => setOpen("policy") },
              { label: words.condense, onChoose: condense },
            ],
          },
          {
            heading: words.groups.conversation,
            entries: [
              { label: words.rename, onChoose: () => setOpen("rename") },
              ...marks.map(({ label, body }) => ({ label, onChoose: () => mark(body) })),
              { label: words.fork, onChoose: onFork },
              { label: share, onChoose: () => setOpen("share") },
              { label: words.download, onChoose: () => setOpen("download") },
              { label: hold, onChoose: () => setOpen("hold") },
              { label: toTrash, onChoose: trash },
              { label: words.delete, onChoose: () => setOpen("delete"), isDangerous: true },
            ],
          },
        ]}
      />
      <Suspense>
        {open === "download" && <DownloadDialog id={id} folder={state.workingDir} onClose={close} />}
        {open === "hold" && <HoldDialog id={id} onClose={close} />}
        {open === "share" && <ShareDialog id={id} onClose={close} />}
        {open === "rename" && (
          <RenameDialog
            title={state.title ?? ""}
            onClose={close}
            onSave={(title) => void onAttempt(() => client.updateConversation(id, { title }))}
          />
        )}
        {open === "policy" && (
          <PolicyDialog id={id} policy={state.policy} onAttempt={onAttempt} onClose={close} />
        )}
        {open === "delete" && (
          <DeleteDialog
            onClose={close}
            onDelete={() =>
              void onAttempt(() => client.deleteConversation(id)).then((isDone) => isDone && onDeleted())
            }
          />
        )}
      </Suspense>
    </>
  );
}
