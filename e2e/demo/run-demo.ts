import { connectDevnetChain, fundWallet } from "@geoswap/devnet";
import type { ChainDeployment, Deployment } from "@geoswap/protocol";
import {
	buildOp,
	createClient,
	getQuote,
	type Swap,
	signDelegation,
	submitOp,
	verifyAndSign,
} from "@geoswap/sdk";
import { type Address, erc20Abi, formatUnits } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { type DemoStep, demoSteps } from "./demo-steps.ts";
import { watchSwap } from "./watch-swap.ts";

export type DemoResult = {
	swap: Swap;
	wallet: Address;
	/** Balances in smallest units, once the swap is decided. */
	walletBalance: bigint;
	recipientBalance: bigint;
	steps: DemoStep[];
};

const symbol = "USDC";
const wholeAmount = 100n;

/** Swaps with a new wallet that has not one wei. */
export async function runDemo(
	stack: {
		baseUrl: string;
		apiKey: string;
		deployment: Deployment;
		chains: readonly { chainId: number; rpcUrl: string }[];
	},
	onStep: (step: DemoStep) => void,
): Promise<DemoResult> {
	const { steps, say } = demoSteps(onStep);
	const { deployment: pins, chains } = stack;
	const [origin, destination] = chains.map((endpoint) => {
		const deployment = pins.chains.find(({ chainId }) => chainId === endpoint.chainId);
		if (!deployment) throw new Error(`the deployment file has no chain ${endpoint.chainId}`);
		return { ...connectDevnetChain(endpoint), deployment, asset: assetOf(deployment) };
	});
	if (!origin || !destination) throw new Error("the stack must have two chains");
	type Side = typeof origin;
	const balance = ({ publicClient, asset }: Side, owner: Address) =>
		publicClient.readContract({
			address: asset.address,
			abi: erc20Abi,
			functionName: "balanceOf",
			args: [owner],
		});
	const show = (units: bigint, { asset }: Side) => `${formatUnits(units, asset.decimals)} ${symbol}`;

	const account = privateKeyToAccount(generatePrivateKey());
	const wallet = account.address;
	const amount = wholeAmount * 10n ** BigInt(origin.asset.decimals);
	await fundWallet(origin, { deployment: origin.deployment, wallet, token: origin.asset.address, amount });
	const wei = await origin.publicClient.getBalance({ address: wallet });
	say(`new wallet ${wallet} holds ${show(amount, origin)} and ${wei} wei on ${origin.deployment.name}`);

	const client = createClient(stack);
	const intent = {
		originChain: origin.chainId,
		destinationChain: destination.chainId,
		inputToken: origin.asset.address,
		outputToken: destination.asset.address,
		amount: String(amount),
		walletAddress: wallet,
	};
	const quote = await getQuote(client, intent);
	say(`quoted: ${quote.summary}`);
	const authorization = await signDelegation(client, { chainId: origin.chainId, account, pins });
	say(
		authorization
			? "signed the delegation, since this is the wallet's first swap"
			: "the wallet is already delegated",
	);
	const build = await buildOp(client, { geoQuoteToken: quote.geoQuoteToken, authorization });
	const signature = await verifyAndSign({ intent, quote, build, pins, account });
	say("built the op, verified it with the deployment file, signed it");
	const { swapId } = await submitOp(client, { geoOpToken: build.geoOpToken, signature });
	say(`submitted: ${swapId}`);

	const [from, to] = [origin.deployment.name, destination.deployment.name];
	const swap = await watchSwap(client, swapId, { origin: from, destination: to, say });
	const [walletBalance, recipientBalance] = [
		await balance(origin, wallet),
		await balance(destination, wallet),
	];
	say(`the wallet holds ${show(walletBalance, origin)} on ${from}`);
	say(`the recipient holds ${show(recipientBalance, destination)} on ${to}`);
	return {
		swap,
		wallet,
		walletBalance,
		recipientBalance,
		steps,
	};
}

function assetOf({ name, assets }: ChainDeployment) {
	const asset = assets.find((candidate) => candidate.symbol === symbol);
	if (!asset) throw new Error(`${name} has no ${symbol}`);
	return asset;
}
