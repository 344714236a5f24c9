import {
	type BuildResponse,
	orderSchema,
	packDeadlines,
	type TypedDataJson,
	unpackDeadlines,
} from "@geoswap/protocol";
import { getTransactionDecoder, getTransactionEncoder } from "@solana/kit";
import {
	createWalletClient,
	custom,
	type Hex,
	http,
	parseSignature,
	serializeCompactSignature,
	serializeSignature,
	signatureToCompactSignature,
	toHex,
	zeroAddress,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { errorOf } from "../test/error-of.ts";
import { type ModelService, startModelService } from "../test/model-service.ts";
import { account, makeBuild, makeOrder as makeEvmOrder, makePins } from "../test/op-fixture.ts";
import { signer as kitSigner, makeOrder, makeBuild as makeSolanaBuild } from "../test/solana-op-fixture.ts";
import { makeSwapRequest, walletOf } from "../test/swap-request.ts";
import type { EvmAccount } from "./evm-account.ts";
import { evmSigner } from "./evm-signer.ts";
import { signOp } from "./sign-op.ts";
import { solanaSigner } from "./solana-signer.ts";
import type { SolanaWallet } from "./solana-wallet.ts";
import { swap } from "./swap.ts";
import type { SwapProgress, SwapRequest } from "./swap-request.ts";

vi.mock("./sleep.ts", async (original) => (await import("../test/quick-time.ts")).quickTime(original));

let service: ModelService;
beforeEach(async () => {
	service = await startModelService();
});
afterEach(() => service.close());

/** A signer that is an instance of a class. Its methods work only if they are called on the instance. */
class RemoteAccount {
	readonly #account = account;
	readonly address = account.address;

	async signTypedData(typedData: TypedDataJson): Promise<Hex> {
		return this.#account.signTypedData(typedData);
	}

	async signMessage(args: { message: { raw: Hex } }): Promise<Hex> {
		return this.#account.signMessage(args);
	}

	async signAuthorization(args: Parameters<typeof account.signAuthorization>[0]) {
		return this.#account.signAuthorization(args);
	}
}

const { address, signMessage, signAuthorization } = account;
const signTypedData = async (typedData: TypedDataJson) => account.signTypedData(typedData);
const browser = custom({
	request: async ({ method, params }: { method: string; params: [Hex, string] }) => {
		if (method !== "eth_signTypedData_v4") throw new Error(`${method} is not to be asked for`);
		return account.signTypedData(JSON.parse(params[1]));
	},
});

describe("a wallet on an EVM chain", () => {
	const run = async (changes: Partial<SwapRequest> = {}) =>
		swap(service.client, await makeSwapRequest("evm", changes));
	const executions = () => service.openedBy(account.address).length;

	test.each<[string, SwapRequest["signer"]]>([
		["a viem local account", account],
		[
			"a viem wallet client with a local account",
			createWalletClient({ account, transport: http("http://127.0.0.1:1") }),
		],
		["a plain object that signs typed data", { address, signTypedData, signAuthorization }],
		["a plain object that signs messages", { address, signMessage, signAuthorization }],
		["a remote signer with its own class", new RemoteAccount()],
		["a signer from evmSigner()", evmSigner(account)],
	])("%s signs the authorization of an undelegated wallet, and the swap settles", async (_, signer) => {
		service.knobs.isDelegated = false;
		const steps: string[] = [];
		const onProgress = ({ step }: SwapProgress) => steps.push(step);
		expect(await run({ signer, onProgress })).toMatchObject({ status: "settled" });
		expect(steps.slice(0, 4)).toEqual(["quoted", "authorizing", "signed", "submitted"]);
		expect(executions()).toBe(1);
	});

	test("an undelegated wallet that holds less than the input signs nothing, and learns its balance", async () => {
		service.knobs.isDelegated = false;
		service.knobs.balance = 4_999_999n;
		const signs = vi.fn();
		const signer = {
			address,
			signTypedData: signs,
			signMessage: signs,
			signAuthorization: signs,
			sign: signs,
		};
		const { code, next, mayExecute, details } = await errorOf(run({ signer, amount: 5_000_000n }));
		expect({ code, next, mayExecute, details }).toEqual({
			code: "INSUFFICIENT_BALANCE",
			next: "fund_wallet",
			mayExecute: false,
			details: { balance: "4999999", required: "5000000" },
		});
		expect(signs).not.toHaveBeenCalled();
		expect(executions()).toBe(0);
	});

	const sign = async ({ hash }: { hash: Hex }) => account.sign({ hash });
	const wrongTyped = (data: TypedDataJson) =>
		signTypedData({ ...data, domain: { ...data.domain, name: "Other" } });
	const wrongAuthorization = async (args: Parameters<typeof signAuthorization>[0]) =>
		signAuthorization({ ...args, nonce: 99 });

	test.each<[string, EvmAccount]>([
		["has nothing but sign()", { address, sign }],
		["has no signAuthorization()", { address, sign, signMessage }],
		[
			"signs raw messages as text",
			{ address, sign, signMessage: ({ message }) => signMessage({ message: message.raw }) },
		],
		[
			"returns an authorization of another form",
			{ address, sign, signMessage, signAuthorization: wrongAuthorization },
		],
		[
			"returns an authorization without its parity",
			{
				address,
				sign,
				signMessage,
				signAuthorization: async (args) => ({ ...(await signAuthorization(args)), yParity: undefined }),
			},
		],
		["signs typed data of another domain", { address, sign, signMessage, signTypedData: wrongTyped }],
		[
			"signs neither typed data nor raw messages as they are",
			{
				address,
				sign,
				signMessage: ({ message }) => signMessage({ message: message.raw }),
				signTypedData: wrongTyped,
			},
		],
		["returns compact signatures from sign()", { address, sign: async (args) => compact(await sign(args)) }],
	])("a wallet that %s completes its first swap and the next one", async (_, signer) => {
		service.knobs.isDelegated = false;
		expect(await run({ signer })).toMatchObject({ status: "settled" });
		expect(service.knobs.isDelegated).toBe(true);
		expect(await run({ signer })).toMatchObject({ status: "settled" });
		expect(executions()).toBe(2);
	});

	const never = async () => {
		throw new Error("it must not be called");
	};
	const refusing = async () => Promise.reject(new Error("denied by policy"));

	test.each<[string, Partial<EvmAccount>]>([
		["typed data", { signTypedData, signMessage: never, sign: never }],
		["a message", { signMessage, sign: never }],
	])("if a wallet signs %s, no other signing method is called", async (_, methods) => {
		service.knobs.isDelegated = false;
		const signer = { address, signAuthorization, ...methods };
		expect(await run({ signer })).toMatchObject({ status: "settled" });
		expect(executions()).toBe(1);
	});

	test.each<[string, Partial<EvmAccount>]>([
		["typed data", { signTypedData: refusing, signMessage: never, sign: never }],
		["a message", { signMessage: refusing, sign: never }],
	])("if a wallet refuses to sign %s, no other signing method is called", async (_, methods) => {
		expect(await errorOf(run({ signer: { address, ...methods } }))).toMatchObject({
			code: "SIGNER_FAILED",
			cause: { message: "denied by policy" },
		});
		expect(executions()).toBe(0);
	});

	test("typed data can be sent to a vendor as JSON, and is signed without changes", async () => {
		const seen: TypedDataJson[] = [];
		const remote = async (typedData: TypedDataJson) => {
			seen.push(typedData);
			return signTypedData(JSON.parse(JSON.stringify(typedData)));
		};
		expect(await run({ signer: { address, signTypedData: remote } })).toMatchObject({ status: "settled" });
		expect(seen).toHaveLength(1);
		expect(seen[0]).toMatchObject({ primaryType: "Order", message: { inputAmount: "10000000", topUp: "0" } });
		expect(Object.keys(seen[0]?.types ?? {})).toEqual(["EIP712Domain", "Order"]);
	});

	describe("with the delegate for typed data only", () => {
		const [chain] = makePins().chains;
		const { delegate: plain = zeroAddress, typedDelegate = zeroAddress } = chain?.contracts ?? {};
		const earlier = chain?.contracts.earlierDelegates[0] ?? zeroAddress;
		/** Returns an account, and the delegates that it signs for. */
		const watched = () => {
			const targets: string[] = [];
			const signer: EvmAccount = {
				address,
				signTypedData,
				signMessage: never,
				signAuthorization: async (args) => {
					targets.push(args.address);
					return signAuthorization(args);
				},
			};
			return { signer, targets };
		};

		test("a wallet is delegated to it once, only if the option is set, and stays delegated to it", async () => {
			service.knobs.isDelegated = false;
			const { signer, targets } = watched();
			expect(await run({ signer })).toMatchObject({ status: "settled" });
			expect(await run({ signer, delegate: "typed-only" })).toMatchObject({ status: "settled" });
			expect(await run({ signer, delegate: "typed-only" })).toMatchObject({ status: "settled" });
			expect(await run({ signer })).toMatchObject({ status: "settled" });
			expect(targets).toEqual([plain, typedDelegate]);
			expect(service.knobs.delegate).toBe(typedDelegate);
		});

		test("the first swap of a wallet may delegate to it, by swap() or by evmSigner()", async () => {
			for (const changes of [
				(signer: EvmAccount) => ({ signer, delegate: "typed-only" as const }),
				(signer: EvmAccount) => ({ signer: evmSigner(signer, { delegate: "typed-only" }) }),
			]) {
				Object.assign(service.knobs, { isDelegated: false, delegate: plain });
				const { signer, targets } = watched();
				expect(await run(changes(signer))).toMatchObject({ status: "settled" });
				expect(targets).toEqual([typedDelegate]);
			}
		});

		test("a wallet on an earlier delegate signs a new delegation", async () => {
			Object.assign(service.knobs, { isDelegated: false, delegate: earlier });
			const { signer, targets } = watched();
			expect(await run({ signer })).toMatchObject({ status: "settled" });
			expect(targets).toEqual([plain]);
		});

		test("a wallet delegated to it signs typed data or the bare digest, never a message", async () => {
			service.knobs.delegate = typedDelegate;
			expect(await run({ signer: { address, sign, signMessage: never } })).toMatchObject({
				status: "settled",
			});
			expect(await errorOf(run({ signer: { address, signMessage: never } }))).toMatchObject({
				code: "SIGNER_FAILED",
				next: "use_other_wallet",
			});
		});

		test("a wallet that cannot sign typed data, and a signer that was created before, are refused before any request", async () => {
			const delegate = "typed-only";
			await expect(run({ signer: { address, signMessage }, delegate })).rejects.toThrow(TypeError);
			await expect(run({ signer: evmSigner(account), delegate })).rejects.toThrow("pass them to evmSigner()");
			expect(service.requests).toEqual([]);
		});

		test("if the service keeps the other delegate, the order is not signed", async () => {
			service.knobs.lie = (path, body: BuildResponse) =>
				path === "/swap/build-geo-op" ? { ...body, geoOp: { ...body.geoOp, delegate: plain } } : body;
			const { signer } = watched();
			const asked = { ...signer, signTypedData: never };
			expect(await errorOf(run({ signer: asked, delegate: "typed-only" }))).toMatchObject({
				code: "VERIFICATION_FAILED",
				field: "geoOp.delegate",
			});
		});
	});

	test("an authorization of another key is refused and not sent", async () => {
		service.knobs.isDelegated = false;
		const other = privateKeyToAccount(generatePrivateKey());
		const signer = { address, signMessage, signAuthorization: other.signAuthorization };
		expect(await errorOf(run({ signer }))).toMatchObject({ code: "INVALID_SIGNATURE", mayExecute: false });
		expect(service.countOf("/swap/build-geo-op")).toBe(1);
	});

	test("a browser wallet swaps if it is delegated; if it is not, the error advises to use another wallet", async () => {
		const signer = createWalletClient({ account: account.address, transport: browser });
		expect(await run({ signer })).toMatchObject({ status: "settled" });
		service.knobs.isDelegated = false;
		expect(await errorOf(run({ signer }))).toMatchObject({
			code: "SIGNER_FAILED",
			next: "use_other_wallet",
			mayExecute: false,
		});
		expect(executions()).toBe(1);
	});

	test("a wallet client without an account is refused before any request", async () => {
		const signer = createWalletClient({ transport: browser });
		await expect(run({ signer })).rejects.toThrow(TypeError);
		expect(service.requests).toEqual([]);
	});

	test.each<[string, Partial<EvmAccount>]>([
		["the op", { signMessage: async () => Promise.reject(new Error("denied")) }],
		["the op's typed data", { signTypedData: async () => Promise.reject(new Error("denied")) }],
		["the authorization", { signAuthorization: async () => Promise.reject(new Error("denied")) }],
		[
			"the op by throwing synchronously",
			{
				signMessage: () => {
					throw new Error("denied");
				},
			},
		],
	])("a wallet that refuses %s ends the call before anything is submitted", async (_, refusing) => {
		service.knobs.isDelegated = false;
		const signer = { address, signMessage, signAuthorization, ...refusing };
		expect(await errorOf(run({ signer }))).toMatchObject({
			code: "SIGNER_FAILED",
			next: "resign",
			mayExecute: false,
			cause: { message: "denied" },
		});
		expect(service.countOf("/swap/submit")).toBe(0);
		expect(service.countOf("/swap/quote")).toBe(1);
	});

	test.each<[string, (args: { message: { raw: Hex } }) => Promise<Hex>]>([
		["by another key", privateKeyToAccount(generatePrivateKey()).signMessage],
		["over the hash as text", ({ message }) => account.signMessage({ message: message.raw })],
		[
			"over the hash without the prefix, though a message was requested",
			({ message }) => sign({ hash: message.raw }),
		],
		["of the wrong length", async () => "0x1234"],
		["that is empty", async () => "0x"],
		["with a high s", async (args) => highS(await account.signMessage(args))],
	])("a signature %s is refused and not submitted", async (_, sign) => {
		const error = await errorOf(run({ signer: { address, signMessage: sign } }));
		expect(error).toMatchObject({ code: "INVALID_SIGNATURE", next: "resign", mayExecute: false });
		expect(service.countOf("/swap/submit")).toBe(0);
	});

	test("every form of signature that the service accepts is recognized as the wallet's, and becomes 65 bytes", async () => {
		const op = { order: makeEvmOrder(), hash: makeBuild().geoOpHash as Hex, isTypedOnly: false };
		const signature = await account.signMessage({ message: { raw: op.hash } });
		const { r, s, yParity } = parseSignature(signature);
		const low = `${signature.slice(0, -2)}0${yParity}` as Hex;
		for (const form of [signature, compact(signature), low]) {
			const signed = await signOp({ address, signMessage: async () => form }, op);
			expect(parseSignature(signed)).toMatchObject({ r, s, yParity });
		}
	});

	test("an authorization that became stale before the build is signed again", async () => {
		service.knobs.isDelegated = false;
		let asked = 0;
		const signer = {
			address,
			signMessage,
			signAuthorization: async (args: Parameters<typeof signAuthorization>[0]) => {
				// The wallet sends another transaction just after its nonce was read.
				if (asked++ === 0) service.knobs.accountNonce++;
				return signAuthorization(args);
			},
		};
		expect(await run({ signer })).toMatchObject({ status: "settled" });
		expect(asked).toBe(2);
		expect(service.countOf("/swap/quote")).toBe(1);
	});

	/** Returns an account whose authorization is overtaken once the op is signed. */
	const overtaken = (sign: EvmAccount["signMessage"] = signMessage): EvmAccount => {
		service.knobs.isDelegated = false;
		let asked = 0;
		return {
			address,
			signAuthorization,
			signMessage: async (args) => {
				if (asked++ > 0) return sign(args);
				service.knobs.accountNonce++;
				return signMessage(args);
			},
		};
	};

	test("an authorization that became stale before the submit is signed again for the same quote", async () => {
		expect(await run({ signer: overtaken() })).toMatchObject({ status: "settled" });
		expect(service.countOf("/swap/quote")).toBe(1);
		expect(service.countOf("/swap/submit")).toBe(2);
		expect(executions()).toBe(1);
	});

	test("if a service requests one nonce after another, only one authorization is signed", async () => {
		const nonces: number[] = [];
		const signer: EvmAccount = {
			address,
			signMessage,
			signAuthorization: async (args) => {
				nonces.push(args.nonce);
				return signAuthorization(args);
			},
		};
		service.refuse("/swap/build-geo-op", { code: "INVALID_AUTHORIZATION", times: 1_000 });
		service.knobs.lie = (path, body) => {
			if (path !== "/swap/delegation") return body;
			service.knobs.isDelegated = !service.knobs.isDelegated;
			service.knobs.accountNonce += 1_000;
			return body;
		};
		service.knobs.isDelegated = false;
		expect(await errorOf(run({ signer }))).toMatchObject({ field: "accountNonce", mayExecute: false });
		expect(nonces).toEqual([0]);
	});

	test("if a service takes an authorization and does not respond, no second one is signed", async () => {
		service.knobs.isDelegated = false;
		let asked = 0;
		const signer: EvmAccount = {
			address,
			signMessage,
			signAuthorization: async (args) => {
				asked++;
				service.refuse("/swap/build-geo-op", { code: "UPSTREAM_UNAVAILABLE", times: 3 });
				return signAuthorization(args);
			},
		};
		expect(await run({ signer })).toMatchObject({ status: "settled" });
		expect(asked).toBe(1);
	});

	test("only one order is signed per quote, because a second one with another deadline could be opened as well", async () => {
		let builds = 0;
		service.knobs.lie = (path, body: BuildResponse) => {
			if (path !== "/swap/build-geo-op" || ++builds === 1) return body;
			const order = orderSchema.parse(body.geoOp.order as never);
			const times = unpackDeadlines(order.deadlines);
			const other = { ...order, deadlines: packDeadlines({ ...times, refundAfter: times.refundAfter + 1n }) };
			return { ...body, ...makeBuild({ order: other }), expiresAt: body.expiresAt };
		};
		const submitted: string[] = [];
		const refuse: typeof fetch = async (url, init) => {
			if (!String(url).endsWith("/swap/submit")) return fetch(url, init);
			submitted.push(String(init?.body));
			if (submitted.length > 1) return fetch(url, init);
			return Response.json({ code: "INVALID_AUTHORIZATION", next: "reauthorize" }, { status: 409 });
		};
		let signatures = 0;
		const counting = async (typedData: TypedDataJson) => {
			signatures++;
			return signTypedData(typedData);
		};
		const request = await makeSwapRequest("evm", { signer: { address, signTypedData: counting } });
		expect(await swap({ ...service.client, fetch: refuse }, request)).toMatchObject({ status: "settled" });
		expect([builds, signatures, executions()]).toEqual([2, 1, 1]);
		expect(new Set(submitted).size).toBe(1);
	});

	test.each<[string, EvmAccount["signMessage"]]>([
		["refuses", async () => Promise.reject(new Error("denied"))],
		["signs something else", async () => signMessage({ message: { raw: toHex("something else") } })],
	])(
		"if the wallet %s the second time, its first op is submitted until the swap settles",
		async (_, sign) => {
			let refusals = 0;
			const onProgress = ({ step }: SwapProgress) => {
				// The first authorization becomes valid again. A caller that had abandoned it would have made two swaps.
				if (step === "refused" && refusals++ === 0) service.knobs.accountNonce--;
			};
			expect(await run({ signer: overtaken(sign), onProgress })).toMatchObject({ status: "settled" });
			expect(refusals).toBe(1);
			expect(service.countOf("/swap/quote")).toBe(1);
			expect(executions()).toBe(1);
		},
	);

	test("an authorization that is stale every time ends in an error, with nothing executed", async () => {
		service.knobs.isDelegated = false;
		const signer: EvmAccount = {
			address,
			signMessage,
			signAuthorization: async (args) => {
				service.knobs.accountNonce++;
				return signAuthorization(args);
			},
		};
		expect(await errorOf(run({ signer }))).toMatchObject({
			code: "INVALID_AUTHORIZATION",
			mayExecute: false,
		});
		// A service that refuses each authorization would otherwise collect one for each of the wallet's next nonces.
		expect(service.knobs.accountNonce).toBe(4);
		expect(service.countOf("/swap/quote")).toBe(1);
		expect(executions()).toBe(0);
	});
});

class RemoteSolanaAccount {
	readonly #signer = kitSigner;
	readonly address = kitSigner.address;

	async signTransaction(bytes: Uint8Array): Promise<Uint8Array> {
		return signBytes(bytes, this.#signer);
	}
}

async function signBytes(bytes: Uint8Array, signer = kitSigner): Promise<Uint8Array> {
	const transaction = getTransactionDecoder().decode(bytes);
	const [signatures] = await signer.signTransactions([transaction as never]);
	const signed = { ...transaction, signatures: { ...transaction.signatures, ...signatures } };
	return new Uint8Array(getTransactionEncoder().encode(signed));
}

describe("a wallet on Solana", async () => {
	const privateBytes = new Uint8Array(32).fill(0x11);
	const publicBytes = new Uint8Array(await crypto.subtle.exportKey("raw", kitSigner.keyPair.publicKey));
	const run = async (wallet: SolanaWallet) =>
		swap(service.client, await makeSwapRequest("solana", { signer: await solanaSigner(wallet) }));
	const executions = () => service.openedBy(walletOf("solana")).length;

	test.each<[string, SolanaWallet]>([
		["a signer of @solana/kit", kitSigner],
		["a key pair of 64 bytes", new Uint8Array([...privateBytes, ...publicBytes])],
		["a private key of 32 bytes", privateBytes],
		[
			"an object with signTransaction",
			{ address: kitSigner.address, signTransaction: (bytes) => signBytes(bytes) },
		],
		["a remote signer with its own class", new RemoteSolanaAccount()],
		[
			"a wallet that signs in place",
			{
				address: kitSigner.address,
				signTransaction: async (bytes) => {
					bytes.set(await signBytes(bytes));
					return bytes;
				},
			},
		],
	])("%s signs, and the swap settles", async (_, wallet) => {
		expect(await run(wallet)).toMatchObject({ status: "settled" });
		expect(executions()).toBe(1);
	});

	test.each<[string, string, (bytes: Uint8Array) => Promise<Uint8Array>]>([
		["signs another transaction", "TRANSACTION_CHANGED", async () => signBytes(await otherTransaction())],
		[
			"changes the bytes in place",
			"TRANSACTION_CHANGED",
			async (bytes) => {
				bytes.set([bytes.at(-1) === 1 ? 2 : 1], bytes.length - 5);
				return signBytes(bytes);
			},
		],
		["returns something else", "TRANSACTION_CHANGED", async () => new Uint8Array([1, 2, 3])],
		["does not sign it", "INVALID_SIGNATURE", async (bytes) => bytes],
		[
			"signs something else",
			"INVALID_SIGNATURE",
			async (bytes) => {
				const { signatures } = getTransactionDecoder().decode(await signBytes(await otherTransaction()));
				const transaction = getTransactionDecoder().decode(bytes);
				return new Uint8Array(getTransactionEncoder().encode({ ...transaction, signatures }));
			},
		],
		["throws", "SIGNER_FAILED", async () => Promise.reject(new Error("denied"))],
	])("a wallet that %s ends the call before anything is submitted", async (_, code, signTransaction) => {
		const error = await errorOf(run({ address: kitSigner.address, signTransaction }));
		expect(error).toMatchObject({ code, mayExecute: false });
		expect(service.countOf("/swap/submit-solana")).toBe(0);
	});
});

async function otherTransaction(): Promise<Uint8Array> {
	const { unsignedTransaction } = await makeSolanaBuild({ order: makeOrder({ inputAmount: 5n }) });
	return new Uint8Array(Buffer.from(unsignedTransaction, "base64"));
}

/** Returns the signature's second form, with s in the upper half. */
function compact(signature: Hex): Hex {
	const { r, s, yParity } = parseSignature(signature);
	return serializeCompactSignature(signatureToCompactSignature({ r, s, yParity }));
}

function highS(signature: Hex): Hex {
	const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
	const { r, s, yParity } = parseSignature(signature);
	return serializeSignature({ r, s: toHex(order - BigInt(s), { size: 32 }), yParity: 1 - yParity });
}
