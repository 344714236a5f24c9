import type { Runbook } from "./open-runbook.ts";

/** An incident for an operator, and how the operator ends it. */
export type BadDay = {
	/** A short sentence. */
	name: string;
	/** How the test makes it happen, for the table of docs/bad-days.md. */
	how: string;
	/** The rule of deploy/alerts.yml that must fire. Its page in docs/runbooks is followed. */
	alert: string;
	/** Labels that the alert must have. */
	labels?: Record<string, string>;
	/** True if the alert looks back so far that a test does not wait until it ends by itself. */
	lingers?: boolean;
	/** Returns the permanent loss, if there was one. Its breach stays in the books, and the operator accepts it. */
	acceptedLossUsd?: () => Promise<number>;
	break: () => Promise<unknown>;
	/** Follows the page's steps. */
	follow: (page: Runbook) => Promise<unknown>;
	/** Returns true once the page's check holds. Swaps of every route must settle too. */
	isOver: () => Promise<boolean>;
};

/** The measurements of a day. */
export type LivedDay = Pick<BadDay, "name" | "how" | "alert"> & {
	secondsToAlarm: number;
	/** Seconds from the page's first step until its check held and a swap of every route had settled. */
	secondsToRecover: number;
	/** Swaps of the day by how they ended. */
	swaps: Record<string, number>;
	/** Refused calls by error code. */
	refusals: Record<string, number>;
	/** How the current service differs from what was recorded. */
	note?: string;
	/** Loss of the operator in US dollars, which is the total of `geoswapd reconcile` afterwards, or a thief's balance. */
	lostUsd: number;
};
