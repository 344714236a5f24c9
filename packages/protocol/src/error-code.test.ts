import { expect, test } from "vitest";
import { errorCatalogue, errorCodes, nextSteps, SwapError } from "./error-code.ts";

test("error codes, HTTP statuses and next steps match the published table [D-errors-4]", () => {
	const table = errorCodes.map((code) => {
		const { http, next, retryable } = errorCatalogue[code];
		return `${http} ${code} ${next}${retryable ? " retryable" : ""}`;
	});
	expect(table).toMatchInlineSnapshot(`
		[
		  "400 INVALID_REQUEST fix_request",
		  "400 INVALID_SIGNATURE resign",
		  "400 TRANSACTION_CHANGED resign",
		  "401 UNAUTHORIZED check_key",
		  "401 INVALID_TOKEN requote",
		  "404 SWAP_NOT_FOUND fix_request",
		  "404 NOT_FOUND fix_request",
		  "404 RECEIPTS_NOT_OFFERED contact_operator",
		  "405 METHOD_NOT_ALLOWED fix_request",
		  "408 REQUEST_TIMEOUT retry retryable",
		  "409 NEEDS_DELEGATION reauthorize",
		  "409 INVALID_AUTHORIZATION reauthorize",
		  "409 WALLET_BUSY retry retryable",
		  "409 LIQUIDITY_CHANGED requote",
		  "409 SWAP_NOT_ENDED retry retryable",
		  "410 QUOTE_EXPIRED requote",
		  "410 OP_EXPIRED requote",
		  "410 MANDATE_ENDED renew_mandate",
		  "413 BODY_TOO_LARGE fix_request",
		  "415 UNSUPPORTED_MEDIA_TYPE fix_request",
		  "422 UNSUPPORTED_DELEGATION use_other_wallet",
		  "422 NO_ROUTE fix_request",
		  "422 NEEDS_LARGER_SIZE fix_request",
		  "422 INSUFFICIENT_BALANCE fund_wallet retryable",
		  "422 INVALID_MANDATE renew_mandate",
		  "422 OUTSIDE_MANDATE fix_request",
		  "422 MANDATE_EXCEEDED fix_request",
		  "422 SIMULATION_FAILED requote",
		  "429 RATE_LIMITED retry retryable",
		  "500 INTERNAL retry retryable",
		  "503 UPSTREAM_UNAVAILABLE retry retryable",
		]
	`);
});

test.each(errorCodes)(
	"the message of %s has two or more full sentences, and its next step is a known one [D-errors-2]",
	(code) => {
		const { message, next } = errorCatalogue[code];
		const sentences = message.split(/(?<=\.) /);
		expect(sentences.length).toBeGreaterThanOrEqual(2);
		for (const sentence of sentences) expect(sentence).toMatch(/^[A-Z].+\.$/);
		expect(nextSteps).toContain(next);
	},
);

test("an error is retryable exactly if its next step is retry or fund_wallet [D-errors-3]", () => {
	for (const code of errorCodes) {
		const { next, retryable } = errorCatalogue[code];
		expect(retryable, code).toBe(next === "retry" || next === "fund_wallet");
	}
});

test("an error has the message of its catalogue entry unless it is given another, and keeps its cause", () => {
	const cause = new Error("why");
	const error = new SwapError("SIMULATION_FAILED", { reason: "AA23" }, { cause });
	expect(error).toMatchObject({ code: "SIMULATION_FAILED", details: { reason: "AA23" }, cause });
	expect(new SwapError("UNAUTHORIZED", undefined).message).toBe(errorCatalogue.UNAUTHORIZED.message);
	expect(new SwapError("NOT_FOUND", undefined, { message: "No /x." }).message).toBe("No /x.");
});

test.each([
	[
		new SwapError("NEEDS_LARGER_SIZE", { minimumAmount: "1250000" }),
		"The amount is too small to pay for its own network costs. Send at least 1250000.",
	],
	[
		new SwapError("INSUFFICIENT_BALANCE", { balance: "5", required: "70" }),
		"The wallet holds 5 of the swap's input of 70. Fund it, or request a quote for less.",
	],
	[
		new SwapError("OUTSIDE_MANDATE", { reason: "recipient" }),
		"The mandate does not allow this swap's recipient. Change it, or ask the owner for another mandate.",
	],
	[
		new SwapError("INVALID_REQUEST", { issues: [{ path: "recipient", message: "is the zero address" }] }),
		"The request is malformed. Correct recipient (is the zero address) and send it again.",
	],
	[
		new SwapError("INVALID_REQUEST", {
			issues: ["", "a", "b", "c", "d"].map((path) => ({ path, message: "required" })),
		}),
		"The request is malformed. Correct the request (required), a (required), b (required), and 2 more of details.issues, and send it again.",
	],
])(
	"the message of an error has the values of the details that its catalogue entry names: %#",
	(error, message) => {
		expect(error.message).toBe(message);
	},
);

test("a message without the value that its catalogue entry names has the name of the value", () => {
	const error = new SwapError("INVALID_REQUEST", { issues: [] });
	expect(error.message).toBe(errorCatalogue.INVALID_REQUEST.message);
});

test("an error has the next step of its catalogue entry unless it is given another", () => {
	expect(new SwapError("NO_ROUTE", { reason: "pair" })).toMatchObject({
		next: "fix_request",
		retryable: false,
	});
	const paused = new SwapError("NO_ROUTE", { reason: "paused" }, { next: "retry", retryable: true });
	expect(paused).toMatchObject({ next: "retry", retryable: true });
});
