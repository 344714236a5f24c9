import type { JobReason } from "../swap/facts/job.ts";

/** The decision on a job after its bundle was simulated. */
export type Verdict =
	| { do: "send" }
	| { do: "refuse"; reason: JobReason }
	/** The job is tried again after this many blocks. */
	| { do: "postpone"; blocks: number; alone?: boolean; failures?: 0 | 1 }
	/** Nothing is known about the job itself, for example because another one made the bundle fail. */
	| { do: "leave" };
