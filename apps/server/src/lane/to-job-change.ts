import type { JobChange } from "../job/journal/journal-lease.ts";
import type { ChainHead } from "../swap/facts/facts.ts";
import type { Verdict } from "./verdict.ts";

/** Turns a verdict on a job that is not sent now into the change of its row. */
export function toJobChange(verdict: Verdict, head: ChainHead): JobChange {
	if (verdict.do === "refuse") return { refuse: verdict.reason };
	if (verdict.do !== "postpone") return {};
	const { do: _, blocks, ...change } = verdict;
	return { ...change, notBeforeBlock: head.number + blocks };
}
