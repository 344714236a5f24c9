import { writeFileSync } from "node:fs";
import { badDaysPage } from "./bad-days-page.ts";
import { pageFile, readRecord } from "./record-day.ts";

// Writes docs/bad-days.md from the record of the days.
writeFileSync(pageFile, badDaysPage(readRecord()));
