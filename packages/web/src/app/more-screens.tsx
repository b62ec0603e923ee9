import { lazyPart } from "../lib/lazy-part.ts";
import ArchivedPage from "./archived-page.tsx";
import ConversationsScreen from "./conversations-screen.tsx";

const AutomationsPage = lazyPart(() => import("../automations/automations-page.tsx"));
const HomePage = lazyPart(() => import("../home/home-page.tsx"));
const SearchPage = lazyPart(() => import("../search/search-page.tsx"));

type MoreScreensProps = {
  /** The first part of the path. */
  readonly screen: string;
  /** The second one. */
  readonly of: string | undefined;
};

/** Screens whose routes would take room in the page's first script. */
export default function MoreScreens({ screen, of }: MoreScreensProps) {
  switch (screen) {
    case "archived":
      return <ArchivedPage />;
    case "automations":
      return <AutomationsPage of={of} />;
    case "conversations":
      return <ConversationsScreen />;
    case "search":
      return <SearchPage />;
    default:
      return <HomePage />;
  }
}
