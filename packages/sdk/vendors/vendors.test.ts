import { createRequire } from "node:module";
import { join } from "node:path";
import type { TypedDataJson } from "@geoswap/protocol";
import { createParaSolanaSigner } from "@getpara/solana-signers-v2-integration";
import { createParaViemAccount } from "@getpara/viem-v2-integration";
import { PrivyClient } from "@privy-io/node";
import { createSolanaKitSigner } from "@privy-io/node/solana-kit";
import { createViemAccount } from "@privy-io/node/viem";
import { Keypair, VersionedTransaction } from "@solana/web3.js";
import { TurnkeySigner } from "@turnkey/solana";
import { createAccountWithAddress } from "@turnkey/viem";
import { createWalletClient, type Hex, hashTypedData, http, parseSignature } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { mainnet } from "viem/chains";
import { hashAuthorization } from "viem/utils";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { base64 } from "../src/base64.ts";
import { cdpSolanaWallet } from "../src/cdp.ts";
import type { EvmAccount } from "../src/evm-account.ts";
import { privySolanaWallet } from "../src/privy.ts";
import { solanaSigner } from "../src/solana-signer.ts";
import type { SolanaWallet } from "../src/solana-wallet.ts";
import { swap } from "../src/swap.ts";
import { walletStandardWallet } from "../src/wallet-standard.ts";
import { web3jsWallet } from "../src/web3js.ts";
import { type ModelService, startModelService } from "../test/model-service.ts";
import { makeSwapRequest } from "../test/swap-request.ts";

// Each vendor's own package, with its transport replaced by a function that signs with a key made here. The responses
// of a vendor's service are assumptions, derived from what its package sends and expects. No real credentials are used.

process.env.DISABLE_CDP_USAGE_TRACKING = "true";
process.env.DISABLE_CDP_ERROR_REPORTING = "true";
const modules = join(import.meta.dirname, "node_modules");
const require = createRequire(import.meta.url);
const { ViemWalletProvider } = require(
	join(modules, "@coinbase/agentkit/dist/wallet-providers/viemWalletProvider.js"),
);
const { EvmWalletProvider } = require(
	join(modules, "@coinbase/agentkit/dist/wallet-providers/evmWalletProvider.js"),
);
const { SolanaKeypairWalletProvider } = require(
	join(modules, "@coinbase/agentkit/dist/wallet-providers/solanaKeypairWalletProvider.js"),
);
const cdp = join(modules, "@coinbase/cdp-sdk/_esm/accounts");
const { toEvmServerAccount } = await import(join(cdp, "evm/toEvmServerAccount.js"));
const { toSolanaAccount } = await import(join(cdp, "solana/toSolanaAccount.js"));

/** The keys that the vendors' services would hold. */
const local = privateKeyToAccount(generatePrivateKey());
const keypair = Keypair.generate();
const { address } = local;
const solanaAddress = keypair.publicKey.toBase58();

async function signTransaction(bytes: Uint8Array): Promise<Uint8Array> {
	const transaction = VersionedTransaction.deserialize(bytes);
	transaction.sign([keypair]);
	return transaction.serialize();
}

async function signBytes(message: Uint8Array): Promise<Uint8Array> {
	const pkcs8 = Buffer.concat([
		Buffer.from("302e020100300506032b657004220420", "hex"),
		keypair.secretKey.slice(0, 32),
	]);
	const key = await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", false, ["sign"]);
	return new Uint8Array(await crypto.subtle.sign("Ed25519", key, new Uint8Array(message)));
}

let service: ModelService;
const realFetch = globalThis.fetch;
beforeEach(async () => {
	service = await startModelService();
	Object.assign(service.knobs, { settleMs: 0, isDelegated: false });
	vi.stubGlobal("fetch", answerVendor);
});
afterEach(async () => {
	vi.unstubAllGlobals();
	await service.close();
});

/** Responds like Privy's service, and like the one that receives AgentKit's statistics. No call leaves this machine. */
async function answerVendor(url: string | URL | Request, init?: RequestInit): Promise<Response> {
	const { hostname } = new URL(url instanceof Request ? url.url : url);
	if (hostname === "127.0.0.1") return realFetch(url, init);
	if (hostname === "cca-lite.coinbase.com") return Response.json({});
	if (!hostname.endsWith("privy.io")) throw new TypeError(`${hostname} is not to be called`);
	const { method, params } = JSON.parse(String(init?.body));
	const data = await answerPrivy(method, params);
	return Response.json({ method, data });
}

type PrivyTypedData = Omit<TypedDataJson, "primaryType"> & { primary_type: string };

async function answerPrivy(
	method: string,
	{ typed_data, ...params }: Record<string, string> & { typed_data?: PrivyTypedData },
): Promise<object> {
	const hex = (text = "") => (text.startsWith("0x") ? text : `0x${text}`) as Hex;
	switch (method) {
		case "eth_signTypedData_v4": {
			if (!typed_data) throw new Error("there is nothing to sign");
			const { primary_type: primaryType, ...others } = typed_data;
			return { signature: await local.signTypedData({ ...others, primaryType }), encoding: "hex" };
		}
		case "personal_sign": {
			const message = params.encoding === "hex" ? { raw: hex(params.message) } : (params.message ?? "");
			return { signature: await local.signMessage({ message }), encoding: "hex" };
		}
		case "eth_sign7702Authorization": {
			const { contract, chain_id, nonce } = params;
			const signed = await local.signAuthorization({
				chainId: Number(chain_id),
				address: hex(contract),
				nonce: Number(nonce),
			});
			const { yParity, r, s } = signed;
			return { authorization: { contract, chain_id, nonce, y_parity: yParity, r, s } };
		}
		case "secp256k1_sign":
			return { signature: await local.sign({ hash: hex(params.hash) }), encoding: "hex" };
		case "signTransaction": {
			const signed = await signTransaction(base64.decode(params.transaction ?? ""));
			return { signed_transaction: base64.encode(signed), encoding: "base64" };
		}
		default:
			throw new Error(`${method} is not to be asked for`);
	}
}

const privy = () => new PrivyClient({ appId: "app", appSecret: "secret" });

function turnkeyAccount(): EvmAccount {
	const signRawPayload = async ({ payload, encoding }: { payload: string; encoding: string }) => {
		const hash = hashOfTurnkey(payload, encoding);
		const { r, s, yParity } = parseSignature(await local.sign({ hash }));
		const result = { r: r.slice(2), s: s.slice(2), v: `0${yParity}` };
		const activity = {
			id: "1",
			status: "ACTIVITY_STATUS_COMPLETED",
			type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2",
			result: { signRawPayloadResult: result },
		};
		return { activity, ...result };
	};
	const client = { signRawPayload } as never;
	return createAccountWithAddress({
		client,
		organizationId: "organization",
		signWith: address,
		ethereumAddress: address,
	}) as EvmAccount;
}

/** Turnkey gets authorizations and typed data as JSON, and hashes them itself. */
function hashOfTurnkey(payload: string, encoding: string): Hex {
	if (encoding.endsWith("EIP712")) return hashTypedData(JSON.parse(payload));
	if (encoding.endsWith("EIP7702_AUTHORIZATION")) {
		const { chainId, address: contract, nonce } = JSON.parse(payload);
		return hashAuthorization({ chainId: Number(chainId), address: contract, nonce: Number(nonce) });
	}
	return (payload.startsWith("0x") ? payload : `0x${payload}`) as Hex;
}

function paraAccount(): EvmAccount {
	const para = {
		findWalletId: () => "w",
		wallets: { w: { id: "w", address, publicKey: local.publicKey } },
		signMessage: async ({ messageBase64 }: { messageBase64: string }) => {
			const hash = `0x${Buffer.from(messageBase64, "base64").toString("hex")}` as Hex;
			const { r, s, yParity } = parseSignature(await local.sign({ hash }));
			return { signature: `${r.slice(2)}${s.slice(2)}0${yParity}` };
		},
	};
	return createParaViemAccount(para as never) as EvmAccount;
}

const cdpAccount = () =>
	toEvmServerAccount(
		{
			signEvmHash: async (_: string, { hash }: { hash: Hex }) => ({ signature: await local.sign({ hash }) }),
			signEvmMessage: async (_: string, { message }: { message: string }) => ({
				signature: await local.signMessage({ message }),
			}),
			// It is sent as JSON, which has no bigint.
			signEvmTypedData: async (_: string, typedData: TypedDataJson) => ({
				signature: await local.signTypedData(JSON.parse(JSON.stringify(typedData))),
			}),
		},
		{ account: { address, policies: [] } },
	);

/** Written after the source of AgentKit's CDP provider, which begins with a call to the service. */
function agentkitCdp(): EvmAccount {
	const account = cdpAccount();
	class Provider extends EvmWalletProvider {
		trackInitialization() {}
		getAddress() {
			return address;
		}
		sign(hash: Hex) {
			return account.sign({ hash });
		}
		signMessage(message: string) {
			return account.signMessage({ message });
		}
		signTypedData(typedData: TypedDataJson) {
			return account.signTypedData(typedData);
		}
	}
	return new Provider().toSigner();
}

const agentkitViem = () =>
	new ViemWalletProvider(
		createWalletClient({ account: local, chain: mainnet, transport: http("http://127.0.0.1:1") }),
	).toSigner();

describe("on an EVM chain", () => {
	test.each<[string, () => EvmAccount]>([
		["@turnkey/viem", turnkeyAccount],
		["@privy-io/node", () => createViemAccount(privy(), { walletId: "w", address }) as EvmAccount],
		["@coinbase/cdp-sdk", cdpAccount],
		["@coinbase/agentkit, the CDP provider", agentkitCdp],
		["@coinbase/agentkit, the viem provider", agentkitViem],
		["@getpara/viem-v2-integration", paraAccount],
	])(
		"an account of %s completes its first swap and a later one without an adapter",
		async (_, makeAccount) => {
			const account = makeAccount();
			const request = await makeSwapRequest("evm", { signer: account });
			expect(await swap(service.client, request)).toMatchObject({ status: "settled" });
			expect(service.knobs.isDelegated).toBe(true);
			expect(await swap(service.client, request)).toMatchObject({ status: "settled" });
			// Its typed data needs no other way of signing.
			const signTypedData = async (data: TypedDataJson) => (await account.signTypedData?.(data)) ?? "0x";
			const typedOnly = { ...request, signer: { address, signTypedData } };
			expect(await swap(service.client, typedOnly)).toMatchObject({ status: "settled" });
			expect(service.openedBy(address)).toHaveLength(3);
		},
	);
});

const turnkeySolana = () => {
	const signed = async (hex: string) =>
		Buffer.from(await signTransaction(new Uint8Array(Buffer.from(hex, "hex")))).toString("hex");
	const client = {
		signTransaction: async (input: {
			unsignedTransaction?: string;
			parameters?: { unsignedTransaction: string };
		}) => {
			const signedTransaction = await signed(
				input.unsignedTransaction ?? input.parameters?.unsignedTransaction ?? "",
			);
			const activity = {
				id: "1",
				status: "ACTIVITY_STATUS_COMPLETED",
				type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2",
				result: { signTransactionResult: { signedTransaction } },
			};
			return { signedTransaction, activity };
		},
	};
	const signer = new TurnkeySigner({ organizationId: "organization", client: client as never });
	return web3jsWallet(
		{
			address: solanaAddress,
			signTransaction: async (transaction: VersionedTransaction) =>
				(await signer.signTransaction(transaction, solanaAddress)) as VersionedTransaction,
		},
		VersionedTransaction,
	);
};

const paraSolana = () =>
	createParaSolanaSigner({
		para: {
			findWalletId: () => "w",
			wallets: { w: { id: "w", address: solanaAddress } },
			signMessage: async ({ messageBase64 }: { messageBase64: string }) => ({
				signature: base64.encode(await signBytes(base64.decode(messageBase64))),
			}),
		},
		rpc: {},
	} as never) as SolanaWallet;

const cdpSolana = () =>
	cdpSolanaWallet(
		toSolanaAccount(
			{
				signSolanaTransaction: async (_: string, { transaction }: { transaction: string }) => ({
					signedTransaction: base64.encode(await signTransaction(base64.decode(transaction))),
				}),
			},
			{ account: { address: solanaAddress } },
		),
	);

const agentkitSolana = () =>
	web3jsWallet<VersionedTransaction>(
		new SolanaKeypairWalletProvider({
			keypair: keypair.secretKey,
			rpcUrl: "http://127.0.0.1:1",
			genesisHash: "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG",
		}),
		VersionedTransaction,
	);

const adapter = () => ({
	publicKey: keypair.publicKey,
	signTransaction: async (transaction: VersionedTransaction) => {
		transaction.sign([keypair]);
		return transaction;
	},
});

const standard = () =>
	walletStandardWallet(
		{
			features: {
				"solana:signTransaction": {
					signTransaction: async (...inputs: { transaction: Uint8Array }[]) =>
						Promise.all(
							inputs.map(async ({ transaction }) => ({
								signedTransaction: await signTransaction(transaction),
							})),
						),
				},
			},
		},
		{ address: solanaAddress },
	);

describe("on Solana", () => {
	test.each<[string, () => SolanaWallet]>([
		["@turnkey/solana by web3jsWallet", turnkeySolana],
		[
			"@privy-io/node by privySolanaWallet",
			() => privySolanaWallet(privy(), { walletId: "w", address: solanaAddress }),
		],
		[
			"@privy-io/node/solana-kit as it is",
			() =>
				createSolanaKitSigner(privy(), { walletId: "w", address: solanaAddress as never }) as SolanaWallet,
		],
		["@coinbase/cdp-sdk by cdpSolanaWallet", cdpSolana],
		["@coinbase/agentkit by web3jsWallet", agentkitSolana],
		["@getpara/solana-signers-v2-integration as it is", paraSolana],
		["a Keypair of @solana/web3.js as it is", () => keypair.secretKey],
		["a wallet adapter by web3jsWallet", () => web3jsWallet(adapter(), VersionedTransaction)],
		["a Wallet Standard wallet by walletStandardWallet", standard],
	])("a wallet of %s swaps, and swaps again", async (_, makeWallet) => {
		const signer = await solanaSigner(makeWallet());
		const request = await makeSwapRequest("solana", { signer });
		expect(await swap(service.client, request)).toMatchObject({ status: "settled" });
		expect(await swap(service.client, request)).toMatchObject({ status: "settled" });
		expect(service.openedBy(solanaAddress)).toHaveLength(2);
	});
});
