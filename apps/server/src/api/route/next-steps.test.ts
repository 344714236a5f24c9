import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
	type ErrorCode,
	errorCatalogue,
	errorCodes,
	fromWord,
	type NextStep,
	nextSteps,
	SwapError,
} from "@geoswap/protocol";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { signMandate } from "../../../test/api/sign-mandate.ts";
import { type SubmitScene, startSubmitScene } from "../../../test/api/submit-scene.ts";
import { readSwap } from "../../swap/record/read-swap.ts";
import { createApiKey } from "../key/api-key.ts";
import { createApiKeys } from "../key/api-keys.ts";
import { checkMandate } from "../origin/check-mandate.ts";
import { createReceipts, type ReceiptSigner } from "../status/create-receipts.ts";

let scene: SubmitScene;
beforeAll(async () => {
	scene = await startSubmitScene();
});
afterAll(() => scene.stop());
beforeEach(() => scene.reset());

const stranger = privateKeyToAccount(generatePrivateKey());
const neverSigns: ReceiptSigner = {
	address: stranger.address,
	sign: () => Promise.reject(new Error("must not be signed")),
};

/** Requests the receipt of a swap that is pending. */
async function receiptBeforeTheEnd(signer: ReceiptSigner | undefined): Promise<unknown> {
	const { quote, built, signature } = await scene.signedOp(await scene.newWallet({ isDelegated: true }));
	await scene.submit(built, signature);
	const swap = await readSwap(scene.database.pool, quote.uuid);
	return swap && createReceipts(signer).of(swap);
}

type Mistake = { text: string; code: ErrorCode; make: () => Promise<unknown> };

/** A mistake that leads to each next step, as docs/errors/README.md has it. No error of today leads to `rebuild`. */
const mistakes: Record<Exclude<NextStep, "rebuild">, Mistake> = {
	retry: {
		text: "requesting a receipt before the swap ends",
		code: "SWAP_NOT_ENDED",
		make: () => receiptBeforeTheEnd(neverSigns),
	},
	fix_request: {
		text: "sending half a signature",
		code: "INVALID_REQUEST",
		async make() {
			const { built, signature } = await scene.signedOp(await scene.newWallet({ isDelegated: true }));
			return scene.submit(built, signature.slice(0, 66));
		},
	},
	requote: {
		text: "building a quote too late",
		code: "QUOTE_EXPIRED",
		async make() {
			const quote = scene.newQuote((await scene.newWallet({ isDelegated: true })).address);
			scene.clock.aheadMs = 31_000;
			return scene.build(quote);
		},
	},
	resign: {
		text: "signing with another key",
		code: "INVALID_SIGNATURE",
		async make() {
			const { built } = await scene.signedOp(await scene.newWallet({ isDelegated: true }));
			const raw = built.geoOpHash as `0x${string}`;
			return scene.submit(built, await stranger.signMessage({ message: { raw } }));
		},
	},
	reauthorize: {
		text: "omitting a new wallet's authorization",
		code: "NEEDS_DELEGATION",
		make: async () => scene.build(scene.newQuote((await scene.newWallet()).address)),
	},
	fund_wallet: {
		text: "swapping more than the wallet holds",
		code: "INSUFFICIENT_BALANCE",
		async make() {
			const { address } = await scene.newWallet({ isDelegated: true, amount: 10_000_000n });
			return scene.build(scene.newQuote(address, { inputAmount: 10_000_001n }));
		},
	},
	use_other_wallet: {
		text: "using a wallet of another provider",
		code: "UNSUPPORTED_DELEGATION",
		async make() {
			const { address } = await scene.newWallet({ isDelegated: true, delegate: scene.assetOf("USDC") });
			return scene.build(scene.newQuote(address));
		},
	},
	renew_mandate: {
		text: "signing a mandate with the agent's key",
		code: "INVALID_MANDATE",
		async make() {
			const order = scene.newQuote((await scene.newWallet()).address).terms;
			const wallet = fromWord(order.wallet);
			return checkMandate(await signMandate(scene, stranger, { wallet, agent: stranger.address }), order);
		},
	},
	check_key: {
		text: "sending a key of another service",
		code: "UNAUTHORIZED",
		async make() {
			const limits = {
				rates: { quote: 1, build: 1, submit: 1, delegation: 1, status: 1, list: 1 },
				heldStatusCalls: 1,
			};
			const apiKeys = createApiKeys({ db: scene.database.pool, pepper: "ours", limits });
			const { key } = createApiKey({ pepper: "theirs", random: randomBytes });
			try {
				return await apiKeys.authenticate(key);
			} finally {
				await apiKeys.close();
			}
		},
	},
	contact_operator: {
		text: "requesting a receipt where none are signed",
		code: "RECEIPTS_NOT_OFFERED",
		make: () => receiptBeforeTheEnd(undefined),
	},
};

const page = readFileSync(join(import.meta.dirname, "../../../../../docs/errors/README.md"), "utf8");
const rowOf = (next: NextStep) =>
	page.split("\n").filter((row) => row.startsWith(`| \`${next}\` | `) && row.split("|").length === 5);

test.each(Object.keys(mistakes) as (keyof typeof mistakes)[])(
	"the mistake that the documentation names for the next step %s leads to an error with that next step",
	async (next) => {
		const { text, code, make } = mistakes[next];
		const thrown = await make().catch((error: unknown) => error);
		expect(thrown).toBeInstanceOf(SwapError);
		expect(thrown).toMatchObject({ code, next });
		expect(rowOf(next)).toEqual([expect.stringMatching(new RegExp(`\\| ${text}: \`${code}\` \\|$`))]);
	},
);

test("every next step has one row, and the one without a mistake is in no error of the catalogue", () => {
	for (const next of nextSteps) expect(rowOf(next), next).toHaveLength(1);
	const used = new Set<NextStep>(errorCodes.map((code) => errorCatalogue[code].next));
	expect(nextSteps.filter((next) => !used.has(next))).toEqual(["rebuild"]);
	expect(rowOf("rebuild")[0]).toContain("| no error today |");
});
