import { describeActing } from "./testing/acting-cases.ts";
import { openLocalPlace } from "./testing/local-place.ts";
import { shareBrowserBench } from "./testing/share-browser-bench.ts";

describeActing(shareBrowserBench(() => openLocalPlace()));
