import { CliError } from "./cli-error.ts";
import { type ExitCode, exitCode } from "./exit-code.ts";
import type { Line } from "./output.ts";
import { Interrupted } from "./watch-interrupt.ts";

/** An error about an intent, with everything that is needed to resume it. */
export class FailedSwap extends Error {
	readonly id: string;
	readonly swapId: string | undefined;
	readonly mayExecute: boolean;
	readonly resume: string;

	constructor(
		cause: unknown,
		{
			id,
			swapId,
			mayExecute,
			resume,
		}: { id: string; swapId: string | undefined; mayExecute: boolean; resume: string },
	) {
		super("the swap did not end", { cause });
		this.id = id;
		this.swapId = swapId;
		this.mayExecute = mayExecute;
		this.resume = resume;
	}
}

export type ErrorJson = {
	code: string;
	message: string;
	next: string;
	retryable: boolean;
	requestId?: string | undefined;
	docs: string;
	mayExecute?: boolean | undefined;
	details?: Record<string, unknown> | undefined;
	id?: string;
	swapId?: string | undefined;
	/** The command that resumes the intent. */
	resume?: string;
};

/** Steps that lead to the same intent. Any other step would begin a second swap. */
const goesOn = ["retry", "check_key", "contact_operator"];

export async function describeError(error: unknown): Promise<{ exit: ExitCode; body: ErrorJson }> {
	if (!(error instanceof FailedSwap)) return describePlain(error);
	const { exit, body } = await describePlain(error.cause);
	const { id, swapId, mayExecute, resume } = error;
	const about = { mayExecute, id, swapId, resume };
	if (!mayExecute) return { exit, body: { ...body, ...about } };
	// Resuming takes precedence over other advice, because a caller that begins again may pay twice.
	const next = goesOn.includes(body.next) ? body.next : "resume";
	return { exit: exitCode.mayExecute, body: { ...body, next, ...about } };
}

async function describePlain(error: unknown): Promise<{ exit: ExitCode; body: ErrorJson }> {
	if (error instanceof CliError) {
		const { exit, code, message, next, retryable, docs, mayExecute, details } = error;
		return { exit, body: { code, message, next, retryable, docs, mayExecute, details } };
	}
	const { GeoswapError } = await import("@geoswap/sdk");
	if (error instanceof GeoswapError) {
		const { code, message, next, retryable, requestId, docs, mayExecute, details } = error;
		return {
			exit: exitOf(error),
			body: { code, message, next, retryable, requestId, docs, mayExecute, details },
		};
	}
	if (error instanceof Interrupted) {
		return {
			exit: exitCode.refused,
			body: {
				code: "INTERRUPTED",
				message: "Interrupted. Nothing was signed by this call.",
				next: "retry",
				retryable: true,
				docs: "/docs/cli.md#exit-codes",
			},
		};
	}
	const message = error instanceof Error ? error.message : String(error);
	return {
		exit: exitCode.unexpected,
		body: {
			code: "UNEXPECTED",
			message: `Something unexpected went wrong: ${message}. Try again; if it persists, run it with GEOSWAP_DEBUG=1 and report it.`,
			next: "retry",
			retryable: false,
			docs: "/docs/cli.md#exit-codes",
		},
	};
}

function exitOf({ code, mayExecute }: { code: string; mayExecute: boolean | undefined }): ExitCode {
	if (code === "INTENT_CHANGED") return exitCode.usage;
	return mayExecute ? exitCode.mayExecute : exitCode.refused;
}

const advice = new Map([
	["retry", "run the same command again"],
	["fix_request", "correct the request"],
	["requote", "start again"],
	["rebuild", "start again"],
	["resign", "start again"],
	["reauthorize", "start again"],
	["fund_wallet", "send the wallet what it lacks"],
	["use_other_wallet", "use another wallet on this chain"],
	["renew_mandate", "ask the wallet's owner for a new mandate"],
	["check_key", "set the key that is missing or wrong"],
	["contact_operator", "contact the operator, with the request's id if there is one"],
]);

/** Advice for codes that are more specific than `next`. */
const adviceByCode = new Map([
	["UNAUTHORIZED", "check the API key"],
	["INSUFFICIENT_BALANCE", "send the wallet more of the input token"],
	["NO_BALANCE", "send the wallet some of the input token"],
	["UNKNOWN_ID", "list your swaps: geoswap history, or geoswap history --unfinished"],
]);

export function errorLines({ code, message, next, requestId, docs, mayExecute, resume }: ErrorJson): Line[] {
	const isResumed = resume !== undefined && (mayExecute || next === "resume");
	return [
		["error", message],
		...(mayExecute === undefined
			? []
			: [
					[
						"swap",
						mayExecute
							? "it may still execute, so do not start another one for the same purpose"
							: "nothing was taken, and nothing will be",
					] satisfies Line,
				]),
		isResumed
			? { label: "next", command: resume }
			: ["next", (advice.has(next) && adviceByCode.get(code)) || (advice.get(next) ?? next)],
		...(requestId === undefined ? [] : [["request", requestId] satisfies Line]),
		["docs", docs],
	];
}
