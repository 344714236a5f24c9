import type { NextStep } from "@geoswap/protocol";
import { type ExitCode, exitCode } from "./exit-code.ts";

/** The codes of errors that happen before the service is called, or without it. */
export type CliErrorCode =
	| "USAGE"
	| "KEY_IN_ARGUMENTS"
	| "NOT_CONFIGURED"
	| "INVALID_CONFIG"
	| "INVALID_DEPLOYMENT"
	| "NO_KEY"
	| "INVALID_KEY"
	| "NO_KEYCHAIN"
	| "UNKNOWN_CHAIN"
	| "UNKNOWN_TOKEN"
	| "UNKNOWN_ID"
	| "INVALID_AMOUNT"
	| "INVALID_ADDRESS"
	| "INTENT_CHANGED"
	| "NO_RPC"
	| "RPC_UNAVAILABLE"
	| "NO_BALANCE"
	| "ABOVE_MAX_SPEND"
	| "BELOW_MIN_OUTPUT"
	| "PRICE_NOT_ACCEPTED"
	| "SWAP_IN_PROGRESS"
	| "NOT_SUBMITTED"
	| "RESCUE_NOT_SENT"
	| "RESCUE_UNPAID"
	| "NOT_UNDELEGATED"
	| "NOT_REVOKED"
	| "INVALID_MANDATE_FILE"
	| "INVALID_BUDGET"
	| "WEBHOOK_UNKNOWN"
	| "APPROVAL_DECLINED"
	| "APPROVAL_INVALID"
	| "INTERRUPTED"
	| "UNEXPECTED";

type Context = {
	code: CliErrorCode;
	exit?: ExitCode;
	next?: NextStep | "resume";
	retryable?: boolean;
	/** The part of /docs/cli.md that explains it. */
	section?: string;
	details?: Record<string, unknown>;
	mayExecute?: boolean;
};

/** An error whose message states what happened and what to do. By default it is a usage error. */
export class CliError extends Error {
	override name = "CliError";
	readonly code: CliErrorCode;
	readonly exit: ExitCode;
	readonly next: NextStep | "resume";
	readonly retryable: boolean;
	readonly docs: string;
	readonly details: Record<string, unknown> | undefined;
	readonly mayExecute: boolean | undefined;

	constructor(message: string, context: Context) {
		super(message);
		this.code = context.code;
		this.exit = context.exit ?? exitCode.usage;
		this.next = context.next ?? "fix_request";
		this.retryable = context.retryable ?? false;
		this.docs = `/docs/cli.md${context.section ? `#${context.section}` : ""}`;
		this.details = context.details;
		this.mayExecute = context.mayExecute;
	}
}
