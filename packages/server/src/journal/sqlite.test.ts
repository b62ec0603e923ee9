import { describeJournal } from "./contract.ts";
import { openJournal } from "./open-journal.ts";

describeJournal("sqlite", () => openJournal({ memory: true }));
