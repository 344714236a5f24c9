import { writeFileSync } from "node:fs";
import { badDaysPage } from "./bad-days-page.ts";
import { pageFile, readRecord } from "./record-day.ts";

// Writes docs/bad-days.md from what the days recorded.
writeFileSync(pageFile, badDaysPage(readRecord()));
