import { connectDevnetChain, fundWallet } from "@geoswap/devnet";
import type { Deployment } from "@geoswap/protocol";
import {
	buildOp,
	buildSolanaTx,
	createClient,
	getQuote,
	type Swap,
	signDelegation,
	submitOp,
	submitSolana,
	verifyAndSign,
} from "@geoswap/sdk";
import { verifyAndSignSolana } from "@geoswap/sdk/solana";
import { generateKeyPairSigner } from "@solana/kit";
import { formatUnits } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { holding } from "../chain/holding.ts";
import { connectSolanaChain } from "../solana/solana-chain.ts";
import { assetAddress } from "../wallet/make-order.ts";
import { type DemoStep, demoSteps } from "./demo-steps.ts";
import { watchSwap } from "./watch-swap.ts";

export type SolanaDemoResult = {
	there: Swap;
	/** Undefined if the first did not settle. */
	back?: Swap;
	steps: DemoStep[];
};

const symbol = "USDC";
const amount = 100_000_000n;

/** Swaps to a new Solana wallet, and from there back, with wallets that have no wei and no lamport. */
export async function runSolanaDemo(
	stack: {
		baseUrl: string;
		apiKey: string;
		deployment: Deployment;
		chains: readonly { chainId: number; rpcUrl: string }[];
		solana?: { rpcUrl: string; wsUrl: string };
	},
	onStep: (step: DemoStep) => void,
): Promise<SolanaDemoResult> {
	const { steps, say } = demoSteps(onStep);
	const { deployment: pins } = stack;
	const [endpoint] = stack.chains;
	const deployed = pins.chains.find(({ chainId }) => chainId === endpoint?.chainId);
	if (!endpoint || !deployed || !stack.solana || !pins.solana)
		throw new Error("the stack has no Solana; start one with `pnpm start`");
	const evm = { ...connectDevnetChain(endpoint), deployment: deployed };
	const solana = connectSolanaChain({ ...stack.solana, deployment: pins.solana });
	const names = { evm: deployed.name, solana: pins.solana.name };
	const show = (units: bigint) => `${formatUnits(units, 6)} ${symbol}`;

	const account = privateKeyToAccount(generatePrivateKey());
	const signer = await generateKeyPairSigner();
	const token = assetAddress(evm, symbol);
	await fundWallet(evm, { deployment: deployed, wallet: account.address, token, amount });
	say(`new wallet ${account.address} holds ${show(amount)} and 0 wei on ${names.evm}`);
	say(`new wallet ${signer.address} has nothing on ${names.solana}, not even a token account`);

	const client = createClient(stack);
	const side = {
		evm: { chain: evm.chainId, token: String(token), wallet: String(account.address) },
		solana: {
			chain: solana.chainId,
			token: String(assetAddress(solana, symbol)),
			wallet: String(signer.address),
		},
	};
	const intentOf = (from: "evm" | "solana", to: "evm" | "solana", units: bigint) => ({
		originChain: side[from].chain,
		destinationChain: side[to].chain,
		inputToken: side[from].token,
		outputToken: side[to].token,
		amount: String(units),
		walletAddress: side[from].wallet,
		recipient: side[to].wallet,
	});

	const thereIntent = intentOf("evm", "solana", amount);
	const thereQuote = await getQuote(client, thereIntent);
	say(`quoted: ${thereQuote.summary}`);
	const authorization = await signDelegation(client, { chainId: evm.chainId, account, pins });
	const op = await buildOp(client, { geoQuoteToken: thereQuote.geoQuoteToken, authorization });
	const signature = await verifyAndSign({ intent: thereIntent, quote: thereQuote, build: op, pins, account });
	say("built the op, verified it with the deployment file, signed it");
	const sent = await submitOp(client, { geoOpToken: op.geoOpToken, signature });
	say(`submitted: ${sent.swapId}`);
	const there = await watchSwap(client, sent.swapId, {
		origin: names.evm,
		destination: names.solana,
		say,
	});
	const received = await holding(solana, symbol, signer.address);
	const lamports = await holding(solana, "SOL", signer.address);
	say(`the wallet on ${names.solana} holds ${show(received)} and ${lamports} lamports`);
	if (there.status !== "settled") return { there, steps };

	const backIntent = intentOf("solana", "evm", received);
	const backQuote = await getQuote(client, backIntent);
	say(`back: ${backQuote.summary}`);
	const build = await buildSolanaTx(client, { geoQuoteToken: backQuote.geoQuoteToken });
	const signedTransaction = await verifyAndSignSolana({
		intent: backIntent,
		quote: backQuote,
		build,
		pins,
		signer,
	});
	say("built the transaction, rebuilt it from the deployment file byte for byte, signed it");
	const returned = await submitSolana(client, { geoOpToken: build.geoOpToken, signedTransaction });
	say(`submitted: ${returned.swapId}`);
	const back = await watchSwap(client, returned.swapId, {
		origin: names.solana,
		destination: names.evm,
		say,
	});
	say(`the wallet on ${names.evm} holds ${show(await holding(evm, symbol, account.address))} again`);
	return { there, back, steps };
}
