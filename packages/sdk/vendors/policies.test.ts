import { createRequire } from "node:module";
import { join } from "node:path";
import { CreatePolicyBodySchema } from "@coinbase/cdp-sdk";
import {
	fromWord,
	type Order,
	orderDigest,
	orderTypedDataToJson,
	type TypedDataJson,
	toWord,
} from "@geoswap/protocol";
import { PrivyClient } from "@privy-io/node";
import { createViemAccount } from "@privy-io/node/viem";
import { createAccountWithAddress } from "@turnkey/viem";
import { type Address, type Hex, hashTypedData, parseSignature } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { hashAuthorization } from "viem/utils";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { EvmAccount } from "../src/evm-account.ts";
import { signAuthorization } from "../src/sign-authorization.ts";
import { swap } from "../src/swap.ts";
import { type ModelService, startModelService } from "../test/model-service.ts";
import { makeOrder, makePins } from "../test/op-fixture.ts";
import { makeSwapRequest } from "../test/swap-request.ts";
import { cdpPolicy, privyPolicy, turnkeyPolicies, withAmountAsNumber } from "./policies.ts";
import { cdpAccepts, type PrivyParams, privyAllows, turnkeyAllows } from "./policy-models.ts";

// Each vendor's own package asks for a signature as it does in use, and a model of the vendor's policies decides. No
// real credentials are used.

process.env.DISABLE_CDP_USAGE_TRACKING = "true";
process.env.DISABLE_CDP_ERROR_REPORTING = "true";
const require = createRequire(import.meta.url);
const { TurnkeyClient } = createRequire(require.resolve("@turnkey/viem"))("@turnkey/http");
const cdpAccounts = join(import.meta.dirname, "node_modules/@coinbase/cdp-sdk/_esm/accounts");
const { toEvmServerAccount } = await import(join(cdpAccounts, "evm/toEvmServerAccount.js"));

const local = privateKeyToAccount(generatePrivateKey());
const { address } = local;
const order = makeOrder({ wallet: toWord(address) });
const contracts = makePins().chains[0]?.contracts;
if (!contracts) throw new Error("the fixtures pin a chain");
const { delegate, earlierEscrows, earlierDelegates } = contracts;
const chainId = Number(order.originChainId);
const terms = {
	...order,
	chainId,
	delegate,
	escrow: fromWord(order.escrow),
	originVault: fromWord(order.originVault),
	wallet: address,
	inputToken: fromWord(order.inputToken),
	maxAmount: order.inputAmount,
	destinationChainId: Number(order.destinationChainId),
};
const policies = {
	cdp: cdpPolicy(terms),
	privy: privyPolicy({ ...terms, ownerId: "owner" }),
	turnkey: turnkeyPolicies({ ...terms, userId: "agent", walletId: "wallet" }),
};

/** An account with all its methods. A method that a package lacks is missing when it is called. */
type Signer = { [Method in keyof EvmAccount]-?: NonNullable<EvmAccount[Method]> } & {
	signTransaction: (transaction: object) => Promise<Hex>;
};

function check(isAllowed: boolean): void {
	if (!isAllowed) throw new Error("policy_violation");
}

// It is sent as JSON, which has no bigint.
const signTypedData = (typedData: TypedDataJson) =>
	local.signTypedData(JSON.parse(JSON.stringify(typedData)));

function cdpWallet(): Signer {
	const ask = (operation: string) => async (_: string, typedData?: TypedDataJson) => {
		check(cdpAccepts(policies.cdp, operation, typedData));
		return { signature: typedData ? await signTypedData(typedData) : "0x" };
	};
	const client = {
		signEvmTypedData: ask("signEvmTypedData"),
		signEvmHash: async (to: string) => ask("signEvmHash")(to),
		signEvmMessage: async (to: string) => ask("signEvmMessage")(to),
		signEvmTransaction: async (to: string) => ask("signEvmTransaction")(to),
	};
	return toEvmServerAccount(client, { account: { address, policies: [] } });
}

const privy = () => new PrivyClient({ appId: "app", appSecret: "secret" });

async function answerPrivy(method: string, params: PrivyParams): Promise<object> {
	check(privyAllows(policies.privy, method, params));
	const { typed_data, contract = "0x", chain_id = 0, nonce = 0 } = params;
	if (typed_data) {
		const { primary_type: primaryType, ...others } = typed_data;
		return { signature: await signTypedData({ ...others, primaryType }), encoding: "hex" };
	}
	const { yParity, r, s } = await local.signAuthorization({ chainId: chain_id, address: contract, nonce });
	return { authorization: { contract, chain_id, nonce, y_parity: yParity, r, s } };
}

function turnkeyWallet(walletId = "wallet"): Signer {
	const ask = (type: string) => async (params: { payload?: string; encoding?: string }) => {
		check(turnkeyAllows(policies.turnkey, { ...params, type, walletId }));
		const document = JSON.parse(params.payload ?? "");
		const isTyped = params.encoding === "PAYLOAD_ENCODING_EIP712";
		const hash = isTyped ? hashTypedData(document) : hashAuthorization(document);
		const { r, s, yParity } = parseSignature(await local.sign({ hash }));
		const activity = { id: "1", status: "ACTIVITY_STATUS_COMPLETED", type };
		return { activity, r: r.slice(2), s: s.slice(2), v: `0${yParity}` };
	};
	const client = {
		signRawPayload: ask("ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2"),
		signTransaction: ask("ACTIVITY_TYPE_SIGN_TRANSACTION_V2"),
	} as never;
	return createAccountWithAddress({
		client,
		organizationId: "o",
		signWith: address,
		ethereumAddress: address,
	}) as never;
}

const wallets: Record<string, () => Signer> = {
	turnkey: () => ({ ...turnkeyWallet(), ...withAmountAsNumber(turnkeyWallet()) }) as Signer,
	privy: () => createViemAccount(privy(), { walletId: "w", address }) as never,
	cdp: cdpWallet,
};

let service: ModelService;
const created: unknown[] = [];
const realFetch = globalThis.fetch;
beforeEach(async () => {
	service = await startModelService();
	service.knobs.settleMs = 0;
	vi.stubGlobal("fetch", async (url: string | URL | Request, init?: RequestInit) => {
		const { hostname, pathname } = new URL(url instanceof Request ? url.url : url);
		if (hostname === "127.0.0.1") return realFetch(url, init);
		const body = JSON.parse(String(init?.body));
		if (pathname === "/v1/policies") return Response.json({ id: String(created.push(body)) });
		try {
			return Response.json({ method: body.method, data: await answerPrivy(body.method, body.params) });
		} catch (error) {
			return Response.json({ error: String(error) }, { status: 400 });
		}
	});
});
afterEach(async () => {
	vi.unstubAllGlobals();
	await service.close();
});

test("CDP's own schema takes the recipe whole, and refuses one with a misspelt name", () => {
	expect(CreatePolicyBodySchema.parse(policies.cdp)).toEqual(policies.cdp);
	for (const name of ["evmTypedDataField", "addresses", "match", "conditions", "signEvmHash"]) {
		const misspelt = JSON.stringify(policies.cdp).replaceAll(`"${name}"`, `"${name}s"`);
		expect(CreatePolicyBodySchema.safeParse(JSON.parse(misspelt)).success).toBe(false);
	}
});

test("CDP's recipe rejects every other operation, whichever of its pages is right", () => {
	const others = ["signEvmHash", "signEvmMessage", "signEvmTransaction", "sendEvmTransaction"];
	for (const operation of [...others, "prepareUserOperation", "sendUserOperation"])
		expect(cdpAccepts(policies.cdp, operation)).toBe(false);
});

test("the clients of Privy and Turnkey send the recipes as they are", async () => {
	await privy().policies().create(policies.privy);
	expect(created).toEqual([policies.privy]);
	const client = new TurnkeyClient({ baseUrl: "http://127.0.0.1:1" }, { stamp: async () => ({}) });
	const parameters = { policies: policies.turnkey };
	expect(JSON.parse((await client.stampCreatePolicies({ parameters })).body)).toEqual({ parameters });
});

test.each(Object.keys(wallets))(
	"a wallet of %s that signs only what its recipe allows swaps twice",
	async (name) => {
		// CDP's wallet is delegated before the policy is made.
		service.knobs.isDelegated = name === "cdp";
		const request = await makeSwapRequest("evm", { signer: wallets[name]?.() as EvmAccount });
		expect(await swap(service.client, request)).toMatchObject({ status: "settled" });
		expect(await swap(service.client, request)).toMatchObject({ status: "settled" });
		expect(service.openedBy(address)).toHaveLength(2);
	},
);

const other = toWord(delegate);
const hash = orderDigest(order);
type Change = (typedData: TypedDataJson) => Partial<TypedDataJson>;

const typed = (changes: Partial<Order>, change: Change = () => ({})) => {
	const typedData = orderTypedDataToJson({ ...order, ...changes });
	return (wallet: Signer) => wallet.signTypedData({ ...typedData, ...change(typedData) });
};
const inDomain = (change: Partial<TypedDataJson["domain"]>, changes: Partial<Order> = {}) =>
	typed(changes, ({ domain }) => ({ domain: { ...domain, ...change } }));
const authorization = (contract: Address | undefined, chain: number) => (wallet: Signer) =>
	signAuthorization(wallet, { chainId: chain, address: contract ?? "0x", nonce: 0 });

describe("under the recipes", () => {
	test.each<[string, string, (wallet: Signer) => Promise<unknown>]>([
		["the order that they name", "turnkey, privy, cdp", typed({})],
		["an order of less", "turnkey, privy, cdp", typed({ inputAmount: 1n, topUp: 1n, swapKey: other })],
		["an order of more", "nobody", typed({ inputAmount: order.inputAmount + 1n })],
		["an order of the largest number", "nobody", typed({ inputAmount: 2n ** 256n - 1n })],
		["an order of another wallet", "nobody", typed({ wallet: other })],
		["an order of another token", "nobody", typed({ inputToken: other })],
		["an order for another token", "nobody", typed({ outputToken: other })],
		["an order for another recipient", "nobody", typed({ recipient: other })],
		["an order that pays another vault", "nobody", typed({ originVault: other })],
		["an order that another vault delivers", "nobody", typed({ destinationVault: other })],
		["an order with other attesters", "nobody", typed({ attesterSet: other })],
		["an order to another chain", "nobody", typed({ destinationChainId: 10n })],
		["an order from another chain", "nobody", typed({ originChainId: 10n })],
		["an order of an earlier escrow", "nobody", typed({ escrow: toWord(earlierEscrows[0] ?? "0x") })],
		["an order in another contract's domain", "nobody", inDomain({ verifyingContract: delegate })],
		[
			"another escrow's order in the domain",
			"nobody",
			inDomain({ verifyingContract: terms.escrow }, { escrow: other }),
		],
		[
			"another type with the fields of an order",
			"nobody",
			typed({}, ({ types: { Order = [], ...types } }) => ({
				types: { ...types, Mandate: Order },
				primaryType: "Mandate",
			})),
		],
		// The next four open no order, because the contract has its own domain and types.
		["an order in the domain of another chain", "cdp", inDomain({ chainId: 10 })],
		["an order in a domain of another name", "privy, cdp", inDomain({ name: "Other" })],
		["an order in a domain of another version", "privy, cdp", inDomain({ version: "2" })],
		[
			"an order with fewer fields",
			"turnkey, cdp",
			typed({}, ({ types: { Order = [], ...types } }) => ({ types: { ...types, Order: Order.slice(1) } })),
		],
		[
			"an order's digest by personal_sign",
			"nobody",
			(wallet) => wallet.signMessage({ message: { raw: hash } }),
		],
		["a text", "nobody", (wallet) => wallet.signMessage({ message: "text" as never })],
		["an order's digest as a bare hash", "nobody", (wallet) => wallet.sign({ hash })],
		[
			"a transaction",
			"nobody",
			(wallet) => wallet.signTransaction({ type: "eip1559", chainId, to: delegate }),
		],
		["the delegation to the pinned delegate", "turnkey, privy", authorization(delegate, chainId)],
		["a delegation to an earlier delegate", "nobody", authorization(earlierDelegates[0], chainId)],
		["a delegation on another chain", "privy", authorization(delegate, 10)],
	])("%s is signed by %s", async (_, expected, ask) => {
		const signers: string[] = [];
		for (const [name, makeWallet] of Object.entries(wallets)) {
			const refusal = await ask(makeWallet()).then(() => undefined, String);
			if (refusal === undefined) signers.push(name);
			else expect(refusal).toContain("policy_violation");
		}
		expect(signers.join(", ") || "nobody").toBe(expected);
	});

	test("an order whose amount Turnkey gets as text is refused, because its size cannot be compared", async () => {
		await expect(typed({})(turnkeyWallet())).rejects.toThrow("policy_violation");
	});

	test("another wallet of Turnkey's organization signs nothing", async () => {
		const another = turnkeyWallet("another");
		const order = typed({})({ ...another, ...withAmountAsNumber(another) } as Signer);
		await expect(order).rejects.toThrow("policy_violation");
		await expect(authorization(delegate, chainId)(another)).rejects.toThrow("policy_violation");
	});
});
