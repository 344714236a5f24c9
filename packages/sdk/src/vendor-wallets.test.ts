import {
	createKeyPairSignerFromPrivateKeyBytes,
	getTransactionDecoder,
	getTransactionEncoder,
	type KeyPairSigner,
	partiallySignTransaction,
} from "@solana/kit";
import { hashTypedData, serializeTypedData, type TypedDataDefinition, toHex } from "viem";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type ModelService, startModelService } from "../test/model-service.ts";
import { account } from "../test/op-fixture.ts";
import { makeSwapRequest } from "../test/swap-request.ts";
import { base64 } from "./base64.ts";
import { cdpSolanaWallet } from "./cdp.ts";
import type { EvmAccount } from "./evm-account.ts";
import { privySolanaWallet } from "./privy.ts";
import { solanaSigner } from "./solana-signer.ts";
import type { SolanaWallet } from "./solana-wallet.ts";
import { swap } from "./swap.ts";
import { walletStandardWallet } from "./wallet-standard.ts";
import { web3jsWallet } from "./web3js.ts";

// The vendors' objects have only their forms here. `vendors/` runs the vendors' complete packages.

let key: KeyPairSigner;
let service: ModelService;
beforeAll(async () => {
	key = await createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(32).fill(5));
});
beforeEach(async () => {
	service = await startModelService();
	service.knobs.settleMs = 0;
});
afterEach(() => service.close());

const signed = (bytes: Uint8Array) =>
	partiallySignTransaction([key.keyPair], getTransactionDecoder().decode(bytes));
const signBytes = async (bytes: Uint8Array) =>
	new Uint8Array(getTransactionEncoder().encode(await signed(bytes)));
const signText = async (text: string) => base64.encode(await signBytes(base64.decode(text)));

/** Has the form of a transaction of `@solana/web3.js` 1. */
class VersionedTransaction {
	readonly bytes: Uint8Array;
	constructor(bytes: Uint8Array) {
		this.bytes = bytes;
	}
	static deserialize(bytes: Uint8Array): VersionedTransaction {
		return new VersionedTransaction(bytes);
	}
	serialize(): Uint8Array {
		return this.bytes;
	}
}
const signTransaction = async ({ bytes }: VersionedTransaction) =>
	new VersionedTransaction(await signBytes(bytes));

test.each<[string, () => SolanaWallet]>([
	[
		"a Solana account of CDP",
		() =>
			cdpSolanaWallet({
				address: key.address,
				signTransaction: async ({ transaction }) => ({ signedTransaction: await signText(transaction) }),
			}),
	],
	[
		"a Solana wallet of Privy",
		() => {
			const answer = async (walletId: string, { transaction }: { transaction: string }) => {
				expect(walletId).toBe("wallet-1");
				return { signed_transaction: await signText(transaction) };
			};
			const privy = { wallets: () => ({ solana: () => ({ signTransaction: answer }) }) };
			return privySolanaWallet(privy, { walletId: "wallet-1", address: key.address });
		},
	],
	[
		"an object around Turnkey's signer",
		() => web3jsWallet({ address: key.address, signTransaction }, VersionedTransaction),
	],
	[
		"a wallet adapter",
		() => web3jsWallet({ publicKey: { toBase58: () => key.address }, signTransaction }, VersionedTransaction),
	],
	[
		"a wallet provider of AgentKit",
		() => web3jsWallet({ getAddress: () => key.address, signTransaction }, VersionedTransaction),
	],
	[
		"a Wallet Standard wallet",
		() => {
			const answer = async ({ transaction }: { transaction: Uint8Array }) => [
				{ signedTransaction: await signBytes(transaction) },
			];
			const features = { "solana:signTransaction": { signTransaction: answer } };
			return walletStandardWallet({ features }, { address: key.address });
		},
	],
	[
		"a kit signer that may change transactions",
		() => ({
			address: key.address,
			modifyAndSignTransactions: async ([transaction]: [never]) => [
				await partiallySignTransaction([key.keyPair], transaction),
			],
		}),
	],
])("%s swaps from Solana", async (_, makeWallet) => {
	const request = await makeSwapRequest("solana", { signer: await solanaSigner(makeWallet()) });
	expect(await swap(service.client, request)).toMatchObject({ status: "settled" });
	expect(service.openedBy(key.address)).toHaveLength(1);
});

/** Signs typed data that a vendor's service got as JSON. */
const signJson = async (json: string) => account.signTypedData(JSON.parse(json));

test.each<[string, EvmAccount["signTypedData"]]>([
	["CDP, which sends it as JSON", async (typedData) => signJson(JSON.stringify(typedData))],
	[
		"Privy, which writes numbers in hex and names the type in another way",
		async ({ primaryType, ...typedData }) => {
			const numbers = (_: string, value: unknown) => (typeof value === "bigint" ? toHex(value) : value);
			const body = JSON.stringify({ typed_data: { ...typedData, primary_type: primaryType } }, numbers);
			const { primary_type, ...others } = JSON.parse(body).typed_data;
			return signJson(JSON.stringify({ ...others, primaryType: primary_type }));
		},
	],
	[
		"Turnkey, which has viem write it",
		async (typedData) => signJson(serializeTypedData(typedData as TypedDataDefinition)),
	],
	["Para, which hashes it", async (typedData) => account.sign({ hash: hashTypedData(typedData) })],
])(
	"an EVM account of %s signs an order as typed data, and no other signing method is called",
	async (_, signTypedData) => {
		const never = () => expect.unreachable("it must not be called");
		const signer: EvmAccount = { address: account.address, signTypedData, signMessage: never, sign: never };
		expect(await swap(service.client, await makeSwapRequest("evm", { signer }))).toMatchObject({
			status: "settled",
		});
		expect(service.openedBy(account.address)).toHaveLength(1);
	},
);

test("a wallet that is not connected, or that cannot sign without sending, is refused with an error that names a solution", () => {
	const absent = { publicKey: null, signTransaction };
	expect(() => web3jsWallet(absent, VersionedTransaction)).toThrow("connect it first");
	const sending = { features: { "solana:signAndSendTransaction": {} } };
	expect(() => walletStandardWallet(sending, { address: key.address })).toThrow("use another one");
});
