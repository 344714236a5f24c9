import type { JobReason } from "../swap/facts/job.ts";

/** What becomes of a job after its bundle was simulated. */
export type Verdict =
	| { do: "send" }
	| { do: "refuse"; reason: JobReason }
	/** Tried again after so many blocks. */
	| { do: "postpone"; blocks: number; alone?: boolean; strikes?: 0 | 1 }
	/** Nothing is known of it: another one spoilt the bundle. */
	| { do: "leave" };
