import { describeReading } from "./testing/reading-cases.ts";
import { openLocalPlace } from "./testing/local-place.ts";
import { shareBrowserBench } from "./testing/share-browser-bench.ts";

describeReading(shareBrowserBench(() => openLocalPlace()));
