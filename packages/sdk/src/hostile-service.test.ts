import {
	type BuildResponse,
	type BuildSolanaResponse,
	type DelegationResponse,
	type Order,
	orderSchema,
	packDeadlines,
	type QuoteResponse,
	solanaNativeToken,
	toSolanaWord,
	toWord,
	unpackDeadlines,
} from "@geoswap/protocol";
import {
	getBase64Decoder,
	getBase64Encoder,
	getCompiledTransactionMessageDecoder,
	getCompiledTransactionMessageEncoder,
	getTransactionDecoder,
	getTransactionEncoder,
} from "@solana/kit";
import { getAddress, numberToHex, toHex, zeroHash } from "viem";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { changeAt, leafPaths } from "../test/change-at.ts";
import { type ModelService, type Path, startModelService } from "../test/model-service.ts";
import * as evm from "../test/op-fixture.ts";
import * as solana from "../test/solana-op-fixture.ts";
import { buildPaths, makeSwapRequest, type Origin, submitPaths } from "../test/swap-request.ts";
import { solanaSigner } from "./solana-signer.ts";
import { swap } from "./swap.ts";
import { VerificationError } from "./verification-error.ts";

const stranger = getAddress(numberToHex(0xbad, { size: 20 }));
const strangeWord = toWord(stranger);

let service: ModelService;
beforeEach(async () => {
	service = await startModelService();
});
afterEach(() => service.close());

/** Returns the field by which it was refused, with a wallet that must not be called. */
async function refusedBy(
	origin: Origin,
	lie: (path: Path, answer: never) => unknown,
	minOutput?: bigint,
): Promise<string> {
	service.knobs.lie = lie;
	const ask = () => expect.unreachable("the wallet must not be asked");
	const signer =
		origin === "evm"
			? {
					address: evm.account.address,
					signTypedData: ask,
					signMessage: ask,
					signAuthorization: ask,
					sign: ask,
				}
			: await solanaSigner({ address: solana.signer.address, signTransaction: ask });
	const request = await makeSwapRequest(origin, { signer, ...(minOutput !== undefined && { minOutput }) });
	const error = await swap(service.client, request).catch((thrown: unknown) => thrown);
	expect(error).toBeInstanceOf(VerificationError);
	expect(error).toMatchObject({ mayExecute: false, next: "contact_operator" });
	expect(service.countOf(submitPaths[origin])).toBe(0);
	return (error as VerificationError).field;
}

type Change<Answer> = (answer: Answer) => unknown;
const lieAt =
	<Answer>(path: Path, change: Change<Answer>) =>
	(asked: Path, answer: never): unknown =>
		asked === path ? change(answer) : answer;

const later = ({ deadlines }: Order, by: bigint, field: "openDeadline" | "refundAfter") => {
	const times = unpackDeadlines(deadlines);
	return {
		deadlines: packDeadlines({
			openDeadline: times.openDeadline + (field === "openDeadline" ? by : 0n),
			fillDeadline: times.fillDeadline + by,
			refundAfter: times.refundAfter + by,
		}),
	};
};

/** Changes of an order with a build that is consistent with them. The wallet would sign exactly what is shown. */
const orderChanges: [name: string, field: string, change: (order: Order) => Partial<Order>][] = [
	["another recipient", "geoOp.order.recipient", () => ({ recipient: strangeWord })],
	["a lower minimum", "geoOp.order.minOutput", ({ minOutput }) => ({ minOutput: minOutput - 1n })],
	["a larger amount", "geoOp.order.inputAmount", ({ inputAmount }) => ({ inputAmount: inputAmount + 1n })],
	["a top-up", "geoOp.order.topUp", () => ({ topUp: 1n })],
	["another output token", "geoOp.order.outputToken", () => ({ outputToken: strangeWord })],
	["another destination chain", "geoOp.order.destinationChainId", () => ({ destinationChainId: 1n })],
	["another destination vault", "geoOp.order.destinationVault", () => ({ destinationVault: strangeWord })],
	["another origin vault", "geoOp.order.originVault", () => ({ originVault: strangeWord })],
	["other attesters", "geoOp.order.attesterSet", () => ({ attesterSet: toHex(1, { size: 32 }) })],
	["the swap key of another quote", "geoOp.order.swapKey", () => ({ swapKey: toHex(1, { size: 32 }) })],
	[
		"a later open deadline",
		"geoOp.order.deadlines (openDeadline)",
		(order) => later(order, 86_400n, "openDeadline"),
	],
	[
		"a later refund time",
		"geoOp.order.deadlines (refundAfter)",
		(order) => later(order, 259_200n, "refundAfter"),
	],
];

const quoteChanges: [name: string, field: string, change: Change<QuoteResponse>][] = [
	["another recipient", "quote.recipient", (quote) => ({ ...quote, recipient: stranger })],
	[
		"a minimum below the requested slippage",
		"quote.minOutput",
		(quote) => ({ ...quote, minOutput: String(BigInt(quote.minOutput) - 1n) }),
	],
	["another input", "quote.amount", (quote) => ({ ...quote, amount: String(BigInt(quote.amount) - 1n) })],
	["more slippage than was requested", "quote.slippageBps", (quote) => ({ ...quote, slippageBps: 51 })],
	["an invalid swap id", "quote.swapId", (quote) => ({ ...quote, swapId: "swp_1" })],
];

describe.each(["evm", "solana"] as const)("a service that returns a false quote from %s", (origin) => {
	test.each(quoteChanges)(
		"a quote with %s is refused, and the error names the field",
		async (_, field, change) => {
			// No authorization is signed for the lie either.
			service.knobs.isDelegated = false;
			expect(await refusedBy(origin, lieAt("/swap/quote", change))).toBe(field);
		},
	);

	test("a quote for another kind of origin is refused, and the error names the field", async () => {
		const other = origin === "evm" ? "solana" : "evm";
		const lie = lieAt<QuoteResponse>("/swap/quote", (quote) => ({ ...quote, origin: other }));
		expect(await refusedBy(origin, lie)).toBe("quote.origin");
	});

	test("a build below the quoted minimum is refused, and the error names the field", async () => {
		const lie = lieAt<QuoteResponse>("/swap/quote", (quote) => ({ ...quote, minOutput: quote.output }));
		expect(await refusedBy(origin, lie, 9_950_000n)).toBe("geoOp.order.minOutput");
	});
});

describe("a service that returns a false op", () => {
	const path = buildPaths.evm;
	const orderOf = ({ geoOp }: BuildResponse) => orderSchema.parse(geoOp.order as never);
	const rebuild =
		(change: (order: Order) => Partial<Order>): Change<BuildResponse> =>
		(build) => ({ ...build, ...evm.makeBuild({ order: { ...orderOf(build), ...change(orderOf(build)) } }) });

	test.each([
		...orderChanges,
		["another origin chain", "geoOp.order.originChainId", () => ({ originChainId: 31338n })],
		["another escrow", "geoOp.order.escrow", () => ({ escrow: strangeWord })],
		["another input token", "geoOp.order.inputToken", () => ({ inputToken: strangeWord })],
		["another wallet", "geoOp.order.wallet", () => ({ wallet: strangeWord })],
	] satisfies typeof orderChanges)(
		"an order with %s is refused, and the error names the field",
		async (_, field, change) => {
			expect(await refusedBy("evm", lieAt(path, rebuild(change)))).toBe(field);
		},
	);

	test.each<[string, string, Change<BuildResponse>]>([
		[
			"another delegate",
			"geoOp.delegate",
			(build) => ({ ...build, ...evm.makeBuild({ order: orderOf(build), delegate: stranger }) }),
		],
		["another chain", "geoOp.chainId", (build) => ({ ...build, geoOp: { ...build.geoOp, chainId: 1 } })],
		["another hash", "geoOpHash", (build) => ({ ...build, geoOpHash: zeroHash })],
		["no fields", "geoOp.order.deadlines", () => ({})],
	])("an op with %s is refused, and the error names the field", async (_, field, change) => {
		expect(await refusedBy("evm", lieAt(path, change))).toBe(field);
	});

	const shown = evm.makeBuild().geoOp;
	test.each(leafPaths(shown))(
		"if only %s of an op is changed, the op is refused and the error names that field",
		async (name) => {
			const field = `geoOp.${name}`;
			const lie = lieAt<BuildResponse>(path, (build) => changeAt(structuredClone(build), field, 0));
			// The service may choose the deadlines, within limits. With other deadlines, it is another order.
			expect(await refusedBy("evm", lie)).toBe(name === "order.deadlines" ? "geoOp.orderId" : field);
		},
	);

	const earlier = evm.makePins().chains[0]?.contracts.earlierDelegates[0];
	test.each<[string, string, Partial<DelegationResponse>]>([
		["another delegate", "delegationTarget", { delegationTarget: stranger }],
		["an earlier delegate", "delegationTarget", { delegationTarget: String(earlier) }],
		[
			"a delegation to a stranger that would be replaced",
			"delegatedTo",
			{ delegated: true, delegatedTo: stranger },
		],
		["an invalid nonce", "accountNonce", { accountNonce: -1 }],
		["a wallet that is delegated to a stranger", "delegatedTo", { originReady: true, delegatedTo: stranger }],
	])("a delegation with %s is refused, and the error names the field", async (_, field, changes) => {
		service.knobs.isDelegated = false;
		const lie = lieAt<DelegationResponse>("/swap/delegation", (state) => ({ ...state, ...changes }));
		expect(await refusedBy("evm", lie)).toBe(field);
	});
});

describe("a service that returns a false transaction on Solana", () => {
	const path = buildPaths.solana;
	const orderOf = ({ geoOp }: BuildSolanaResponse) => orderSchema.parse(geoOp.order as never);
	const rebuild =
		(change: (order: Order) => Parameters<typeof solana.makeBuild>[0]): Change<BuildSolanaResponse> =>
		async (build) => ({
			...build,
			...(await solana.makeBuild({ order: orderOf(build), ...change(orderOf(build)) })),
		});

	test.each([
		...orderChanges,
		["another escrow", "geoOp.order.escrow", () => ({ escrow: toSolanaWord(solana.otherPayer) })],
		["SOL as the input", "geoOp.order.inputToken", () => ({ inputToken: toSolanaWord(solanaNativeToken) })],
		["another wallet", "geoOp.order.wallet", () => ({ wallet: toSolanaWord(solana.otherPayer) })],
		["another origin chain", "geoOp.order.originChainId", () => ({ originChainId: 1n })],
	] satisfies typeof orderChanges)(
		"an order with %s is refused, and the error names the field",
		async (_, field, change) => {
			const lie = rebuild((order) => ({ order: { ...order, ...change(order) } }));
			expect(await refusedBy("solana", lieAt(path, lie))).toBe(field);
		},
	);

	test.each<[string, string, Change<BuildSolanaResponse>]>([
		["another fee payer", "geoOp.feePayer", rebuild(() => ({ payer: solana.signer.address }))],
		[
			"a compute unit limit that is too high",
			"geoOp.compute.unitLimit",
			rebuild(() => ({ unitLimit: 200_001 })),
		],
		[
			"a compute unit price that is too high",
			"geoOp.compute.microLamportsPerUnit",
			rebuild(() => ({ microLamportsPerUnit: 5_000_001n })),
		],
		[
			"an escrow other than that of the order",
			"geoOp.escrow",
			(build) => ({ ...build, geoOp: { ...build.geoOp, escrow: solana.otherPayer } }),
		],
		[
			"an invalid blockhash",
			"geoOp.blockhash",
			(build) => ({ ...build, geoOp: { ...build.geoOp, blockhash: "x" } }),
		],
		[
			"an extra instruction that is not shown",
			"unsignedTransaction",
			(build) => ({ ...build, ...doubled(build) }),
		],
		[
			"an extra instruction that is shown",
			"geoOp.message",
			(build) => {
				const { unsignedTransaction, message } = doubled(build);
				return { ...build, unsignedTransaction, geoOp: { ...build.geoOp, message } };
			},
		],
		[
			"a transfer to a third party that is not shown",
			"unsignedTransaction",
			async (build) => {
				const order = { ...orderOf(build), escrow: toSolanaWord(solana.otherPayer) };
				const { unsignedTransaction } = await solana.makeBuild({ order });
				return { ...build, unsignedTransaction };
			},
		],
		["no fields", "geoOp.order.deadlines", () => ({})],
	])("a transaction with %s is refused, and the error names the field", async (_, field, change) => {
		expect(await refusedBy("solana", lieAt(path, change))).toBe(field);
	});
});

/** Returns the transaction with its transfer, the last instruction but one, repeated. */
function doubled({ unsignedTransaction }: BuildSolanaResponse): {
	unsignedTransaction: string;
	message: string;
} {
	const transaction = getTransactionDecoder().decode(getBase64Encoder().encode(unsignedTransaction));
	const compiled = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
	if (!("instructions" in compiled)) throw new Error("a transaction has instructions");
	const transfer = compiled.instructions.at(-2);
	if (!transfer) throw new Error("a transaction has a transfer");
	const messageBytes = getCompiledTransactionMessageEncoder().encode({
		...compiled,
		instructions: [...compiled.instructions, transfer],
	});
	const bytes = getTransactionEncoder().encode({ ...transaction, messageBytes: messageBytes as never });
	const base64 = getBase64Decoder();
	return { unsignedTransaction: base64.decode(bytes), message: base64.decode(messageBytes) };
}
