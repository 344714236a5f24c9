import { setTimeout as sleep } from "node:timers/promises";
import type { ChainDeployment } from "@geoswap/protocol";
import { attesterSetHash } from "@geoswap/protocol";
import {
	type Account,
	type Hash,
	type Hex,
	parseAbiItem,
	slice,
	TransactionReceiptNotFoundError,
	type Transport,
} from "viem";
import { accessManagerAbi } from "./access-manager-abi.ts";
import { checkPrerequisites } from "./check-prerequisites.ts";
import { createDeployClient, type DeployClient } from "./deploy-client.ts";
import type { DeployConfig } from "./deploy-config.ts";
import { DeployError } from "./deploy-error.ts";
import { type DeployedContracts, type DeployPlan, type DeployStep, deploySteps } from "./deploy-steps.ts";
import { developmentChainIds } from "./development-keys.ts";
import type { FeedReading } from "./read-feeds.ts";
import { refuseReplacement } from "./refuse-replacement.ts";

export type StepReport = { step: DeployStep; outcome: "already done" | "done" | "would do"; hash?: Hash };

type DeployOptions = {
	transport: Transport;
	account: Account;
	config: DeployConfig;
	/** The deployment that an earlier run recorded for this chain. A run that would use other contracts is refused. */
	earlier?: ChainDeployment | undefined;
	/** Lets other contracts replace those that `earlier` names. */
	replace?: boolean | undefined;
	/** Another salt puts the same code at other addresses, which a test uses in place of a later version. */
	salt?: Hex | undefined;
	pollingIntervalMs?: number;
	/** Called after each step. If it throws, the run ends; another run continues from there. */
	onStep?: (report: StepReport) => void | Promise<void>;
	/** Called with each asset's feed before anything is sent. */
	onFeed?: (reading: FeedReading) => void;
};

/**
 * Brings the chain to the state that the config describes and returns the deployment. Every step reads the chain first,
 * so a run after an interrupted or a complete one does only what is missing.
 */
export async function deployContracts(options: DeployOptions): Promise<ChainDeployment> {
	const { config, earlier, onStep } = options;
	const { client, contracts, routes, steps } = await checkedPlan(options);
	await waitForPendingTransactions(client);

	let vaultHash: Hash | undefined;
	let lastBlock: bigint | undefined;
	for (const step of steps) {
		if (await step.isDone()) {
			await onStep?.({ step, outcome: "already done" });
			continue;
		}
		await expectAllowed(client, contracts, step);
		const { hash, blockNumber } = await send(client, step);
		lastBlock = blockNumber;
		if (step.creates === contracts.vault) vaultHash = hash;
		await onStep?.({ step, outcome: "done", hash });
	}
	if (lastBlock !== undefined) {
		await waitForBlock(client, lastBlock + BigInt(confirmationsOf(config)) - 1n);
		await expectStillDone(client, steps);
	}
	let vaultBlock = vaultHash && (await findBlock(client, vaultHash));
	if (earlier?.contracts.vault === contracts.vault) vaultBlock ??= BigInt(earlier.deployedAtBlock);
	vaultBlock ??= await findVaultBlock(client, config, contracts);
	return chainDeployment(config, { contracts, routes }, vaultBlock);
}

/** Reports the steps that `deployContracts` would do. Reads the chain, sends nothing. */
export async function planContracts(options: DeployOptions): Promise<DeployedContracts> {
	const { contracts, steps } = await checkedPlan(options);
	for (const step of steps) {
		await options.onStep?.({ step, outcome: (await step.isDone()) ? "already done" : "would do" });
	}
	return contracts;
}

/** Returns the steps of a deployment after all checks have passed. */
async function checkedPlan(options: DeployOptions): Promise<DeployPlan & { client: DeployClient }> {
	const { account, config, earlier, replace, salt, onFeed } = options;
	const client = deployClient(options);
	const plan = deploySteps({ client, deployer: account.address, config, salt });
	if (earlier && !replace) refuseReplacement(earlier, plan.contracts);
	const feeds = await checkPrerequisites({ client, deployer: account.address, config });
	for (const reading of feeds) onFeed?.(reading);
	return { client, ...plan };
}

function deployClient({ transport, account, config, pollingIntervalMs = 250 }: DeployOptions): DeployClient {
	return createDeployClient({
		transport,
		account,
		chainId: config.chainId,
		name: config.name,
		pollingIntervalMs,
	});
}

/** Waits for a killed run's transactions in flight, because checking before they land would send them twice. */
async function waitForPendingTransactions(client: DeployClient, timeoutMs = 120_000): Promise<void> {
	const { address } = client.account;
	const deadline = Date.now() + timeoutMs;
	for (;;) {
		const [mined, pending] = await Promise.all([
			client.getTransactionCount({ address, blockTag: "latest" }),
			client.getTransactionCount({ address, blockTag: "pending" }),
		]);
		if (pending <= mined) return;
		if (Date.now() > deadline) {
			throw new DeployError(`${pending - mined} transactions of the deployer ${address} are still pending`, {
				next: "wait until they are mined, or replace them with a higher fee, then run again",
			});
		}
		await sleep(client.pollingInterval);
	}
}

/** Throws if the deployer may not do the step, or not immediately. */
async function expectAllowed(
	client: DeployClient,
	contracts: DeployedContracts,
	step: DeployStep,
): Promise<void> {
	if (!step.needs) return;
	const [isAllowed] = await client.readContract({
		address: contracts.accessManager,
		abi: accessManagerAbi,
		functionName: "canCall",
		args: [client.account.address, step.to, slice(step.data, 0, 4)],
	});
	if (isAllowed) return;
	throw new DeployError(
		`not done yet: ${step.name}. The deployer ${client.account.address} may not do this at once`,
		{
			next: `have a member of ${step.needs.toUpperCase()} schedule this with the AccessManager ${contracts.accessManager} and execute it after the role's delay: call ${step.to} with ${step.data}. Then run again`,
		},
	);
}

async function send(client: DeployClient, step: DeployStep): Promise<{ hash: Hash; blockNumber: bigint }> {
	let hash: Hash;
	try {
		hash = await client.sendTransaction({ to: step.to, data: step.data });
	} catch (error) {
		const reason = (error as { shortMessage?: string }).shortMessage ?? (error as Error).message;
		throw new DeployError(`could not be sent: ${step.name}. ${reason}`, {
			next: `check that the deployer ${client.account.address} has native tokens for gas, then run again`,
			cause: error,
		});
	}
	const receipt = await waitForReceipt(client, step, hash);
	if (receipt.status !== "success") {
		throw new DeployError(`reverted: ${step.name}, in transaction ${hash}`, {
			next: "run again; if it reverts again, trace the transaction",
		});
	}
	if (!(await isDoneSoon(client, step))) {
		throw new DeployError(`mined in ${hash}, but the chain does not show it: ${step.name}`, {
			next: "run again; the node may lag behind, or the block was dropped",
		});
	}
	return { hash, blockNumber: receipt.blockNumber };
}

/** Polls for the receipt, because viem waits for the next block, which a chain that mines on demand never has. */
async function waitForReceipt(client: DeployClient, step: DeployStep, hash: Hash, timeoutMs = 180_000) {
	const deadline = Date.now() + timeoutMs;
	for (;;) {
		const receipt = await client.getTransactionReceipt({ hash }).catch((error) => {
			if (error instanceof TransactionReceiptNotFoundError) return undefined;
			throw error;
		});
		if (receipt) return receipt;
		if (Date.now() > deadline) {
			throw new DeployError(`not mined yet: ${step.name}, in transaction ${hash}`, {
				next: "wait until it is mined, or replace it with a higher fee, then run again",
			});
		}
		await sleep(client.pollingInterval);
	}
}

/** Retries, because the receipt may come from a node that is ahead of the one that serves the next read. */
async function isDoneSoon(client: DeployClient, step: DeployStep): Promise<boolean> {
	for (let attempt = 0; attempt < 10; attempt++) {
		if (await step.isDone()) return true;
		await sleep(client.pollingInterval);
	}
	return false;
}

/** Defaults to 1 on a devnet, whose blocks stay. Elsewhere a few more blocks make a reorg of a step unlikely enough. */
function confirmationsOf({ chainId, confirmations }: DeployConfig): number {
	return confirmations ?? (developmentChainIds.includes(chainId) ? 1 : 5);
}

async function waitForBlock(client: DeployClient, number: bigint, timeoutMs = 600_000): Promise<void> {
	const deadline = Date.now() + timeoutMs;
	while ((await client.getBlockNumber()) < number) {
		if (Date.now() > deadline) {
			throw new DeployError(`all steps are done, but the chain has not reached block ${number}`, {
				next: "check that the chain produces blocks, then run again; the result is recorded only then",
			});
		}
		await sleep(client.pollingInterval);
	}
}

/** Throws if a reorg dropped the block that had shown a step as done. */
async function expectStillDone(client: DeployClient, steps: DeployStep[]): Promise<void> {
	for (const step of steps) {
		if (await isDoneSoon(client, step)) continue;
		throw new DeployError(`the chain dropped the block of this step: ${step.name}`, {
			next: "run again; steps that are done are not repeated. If it happens again, raise confirmations in the config",
		});
	}
}

/** Requests the receipt again, because after a reorg the transaction may be in another block than at first. */
async function findBlock(client: DeployClient, hash: Hash): Promise<bigint | undefined> {
	const receipt = await client.getTransactionReceipt({ hash }).catch(() => undefined);
	return receipt?.blockNumber;
}

/** Finds the block of a vault that was deployed before this run, by the event of its constructor. */
async function findVaultBlock(
	client: DeployClient,
	config: DeployConfig,
	contracts: DeployedContracts,
): Promise<bigint> {
	if (config.deployedAtBlock !== undefined) return BigInt(config.deployedAtBlock);
	try {
		const [first] = await client.getLogs({
			address: contracts.vault,
			event: parseAbiItem("event AuthorityUpdated(address authority)"),
			fromBlock: 0n,
		});
		if (first) return first.blockNumber;
	} catch {
		// Many nodes refuse such a long range. In that case the operator has to put the block into the configuration.
	}
	throw new DeployError(`the node does not say in which block the vault ${contracts.vault} was deployed`, {
		next: "look it up in an explorer and put it into the config as deployedAtBlock",
	});
}

function chainDeployment(
	config: DeployConfig,
	{ contracts, routes }: Pick<DeployPlan, "contracts" | "routes">,
	deployedAtBlock: bigint,
): ChainDeployment {
	const { cctp } = config;
	return {
		chainId: config.chainId,
		name: config.name,
		kind: config.kind,
		contracts: {
			delegate: contracts.delegate,
			typedDelegate: contracts.typedDelegate,
			earlierDelegates: config.earlierDelegates,
			escrow: contracts.escrow,
			earlierEscrows: [],
			vault: contracts.vault,
			earlierVaults: [],
			accessManager: contracts.accessManager,
			...(config.permit2 ? { permit2: config.permit2 } : {}),
		},
		attesterSet: { ...config.attesterSet, hash: attesterSetHash(config.attesterSet) },
		uniswap: config.uniswap,
		wrappedNative: config.wrappedNative,
		settlementToken: config.settlementToken,
		...(config.sequencerUptimeFeed ? { sequencerUptimeFeed: config.sequencerUptimeFeed } : {}),
		assets: config.assets,
		...(config.feeDiscountToken ? { feeDiscountToken: config.feeDiscountToken } : {}),
		...(cctp
			? {
					cctp: {
						domain: cctp.domain,
						tokenMessenger: cctp.tokenMessenger,
						messageTransmitter: cctp.messageTransmitter,
						routes,
					},
				}
			: {}),
		deployedAtBlock: Number(deployedAtBlock),
	};
}
