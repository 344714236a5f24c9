import { createHash } from "node:crypto";
import {
	attesterSetHash,
	createTokenAccount,
	createVault,
	decodeProgramData,
	decodeVaultAccount,
	type PlannedSolana,
	type ProgramData,
	type ProgramDeployment,
	programDataAddress,
	programLoader,
	programProblem,
	type SolanaAddress,
	setVaultCap,
	setVaultRoles,
	solanaDeploymentSchema,
	solanaNativeToken,
	tokenAccountOf,
	type VaultAccount,
	vaultAddress,
} from "@geoswap/protocol";
import { createAddressWithSeed, type KeyPairSigner } from "@solana/kit";
import {
	getAllocateWithSeedInstruction,
	getCreateAccountInstruction,
	getTransferSolInstruction,
} from "@solana-program/system";
import { TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import { bytesToHex, type Hex } from "viem";
import type { Cluster } from "./cluster.ts";
import { capsOf, type DeployConfig } from "./deploy-config.ts";
import { DeployError } from "./deploy-error.ts";
import knownPrograms from "./known-programs.json" with { type: "json" };
import {
	bufferHeader,
	deployBuffer,
	initializeBuffer,
	programSize,
	setUpgradeAuthority,
	upgradeProgram,
	writeBuffer,
} from "./loader.ts";

/** The bytes of code that always fit into one transaction, and the number of concurrent transactions. */
const chunkBytes = 900;
const chunksAtOnce = 8;

export type StepReport = {
	name: string;
	outcome: "was done" | "done" | "would do";
	/** The transactions that did it. */
	signatures: string[];
};

export type DeployOptions = {
	cluster: Cluster;
	/** Signs as the program's authority and the vault's owner until it hands both over. */
	deployer: KeyPairSigner;
	/** The key of the program's address. It is needed once, to create the program. */
	program: SolanaAddress;
	programKey: KeyPairSigner | undefined;
	code: Uint8Array;
	config: DeployConfig;
	solana: PlannedSolana;
	isDryRun: boolean;
	/** True if another program and vault replace those that the deployment file lists. */
	isReplacing: boolean;
	onStep: (report: StepReport) => void;
};

/** The entry of the deployment file, and what others have to do before the deployer has no power left. */
export type Deployed = { entry: ProgramDeployment; waiting: string[] };

/**
 * Deploys the program, or replaces its code, creates its vault, and hands both over. Each step reads the chain first,
 * so an interrupted run can be repeated. At the end everything is read and compared again.
 */
export async function deployProgram(options: DeployOptions): Promise<Deployed> {
	const { cluster, deployer, program, config, solana, code } = options;
	refuseOtherClusters(options);
	const caps = capsOf(config, solana);
	const vault = await vaultOf(options);
	// The configuration has at least one operator. The service uses the first; the others are for another worker's key.
	const [operator] = config.vault.operators as [SolanaAddress];
	const entry: ProgramDeployment = {
		address: program,
		vault,
		upgradeAuthority: config.upgradeAuthority,
		operator,
		deployedAtSlot: 0,
		code: { bytes: code.length, sha256: sha256(code) },
		attesterSet: { ...config.attesterSet, hash: attesterSetHash(config.attesterSet) },
	};
	// An entry that cannot be recorded is noticed before anything is sent.
	const { error } = solanaDeploymentSchema.safeParse({ ...solana, program: entry });
	if (error) {
		throw new DeployError(error.issues.map(({ message }) => message).join("; "), {
			next: "correct the configuration",
		});
	}
	const before = await readVault(options, vault);
	const isOurs = before === undefined || before.owner === deployer.address;
	const wrong = { roles: !hasRoles(before, options), caps: wrongCaps(before, caps) };
	if (!isOurs && (wrong.roles || wrong.caps.length > 0)) {
		throw new DeployError(
			`${vault} has other roles or caps than the configuration, and another owner than the deployer`,
			{
				next: "let the vault's owner make the change, or correct the configuration",
			},
		);
	}
	const step = stepper(options);

	const deployed = await readProgram(options);
	const isCurrent = deployed !== undefined && isSameCode(deployed.code, code);
	if (!isCurrent) await placeCode(options, step, deployed);
	else await step(`the program ${program} has this code`, { isDone: true, run: async () => [] });

	const owned = { program, vault, owner: deployer };
	await step(`create the vault ${vault}`, {
		isDone: before !== undefined,
		run: async () => [await cluster.send([await createVault(program, { payer: deployer, owner: deployer })])],
	});
	const { owner, guardian, operators } = config.vault;
	await step(`give the vault its roles, and offer it to its owner ${owner}`, {
		isDone: !wrong.roles,
		run: async () => {
			const pendingOwner = owner === deployer.address ? undefined : owner;
			const roles = { guardian, operators, ...(pendingOwner && { pendingOwner }) };
			return [await cluster.send([setVaultRoles(owned, roles)])];
		},
	});
	await step(`let at most so much leave in an hour: ${describeCaps(config)}`, {
		isDone: wrong.caps.length === 0,
		run: async () => [
			await cluster.send(wrong.caps.map(({ token, perHour }) => setVaultCap(owned, token, perHour))),
		],
	});
	for (const { symbol, token } of caps) {
		if (token === solanaNativeToken) continue;
		const account = await cluster.read(await tokenAccountOf({ owner: vault, token }));
		await step(`create the vault's account for ${symbol}`, {
			// Lamports alone, which anyone can send there, do not make an account.
			isDone: account?.owner === TOKEN_PROGRAM_ADDRESS,
			run: async () => [
				await cluster.send([await createTokenAccount({ payer: deployer, owner: vault, token })]),
			],
		});
	}

	// The last step, so that the deployer can still repair a failure before it.
	const { upgradeAuthority } = config;
	const handed = await readProgram(options);
	await step(
		upgradeAuthority === null
			? "make the program final"
			: `hand the upgrade authority to ${upgradeAuthority}`,
		{
			isDone: handed !== undefined && handed.upgradeAuthority === upgradeAuthority,
			run: async () => {
				expectAuthority(handed, deployer.address);
				return [await cluster.send([await setUpgradeAuthority(program, deployer, upgradeAuthority)])];
			},
		},
	);
	return options.isDryRun ? { entry, waiting: [] } : compare(options, entry);
}

/** Reads program and vault again, and throws if they differ from the configuration. */
async function compare(options: DeployOptions, entry: ProgramDeployment): Promise<Deployed> {
	const { config, solana, deployer } = options;
	const [program, vault] = await Promise.all([readProgram(options), readVault(options, entry.vault)]);
	const found = { ...entry, deployedAtSlot: Number(program?.slot ?? 0) };
	const problem = !program || !vault ? "program or vault are missing" : programProblem(program, found);
	const isWrong = !hasRoles(vault, options) || wrongCaps(vault, capsOf(config, solana)).length > 0;
	if (problem || isWrong || !vault) {
		throw new DeployError(problem ?? "the vault has other roles or caps than the configuration", {
			next: "run again; a node that is behind may have answered",
		});
	}
	const waiting =
		vault.owner === config.vault.owner
			? []
			: [
					`${config.vault.owner} has to accept the vault (instruction 12). Until then ${deployer.address} can withdraw from it`,
				];
	if (vault.isPaused) waiting.push("the vault is paused: its owner has to unpause it (instruction 14)");
	return { entry: found, waiting };
}

/** Returns the vault that the deployment file lists for this program, or the one that the deployer creates. */
async function vaultOf({ solana, program, deployer, isReplacing }: DeployOptions): Promise<SolanaAddress> {
	const own = await vaultAddress(program, deployer.address);
	const listed = solana.program;
	if (!listed || isReplacing) return own;
	if (listed.address === program) return listed.vault;
	throw new DeployError(`the deployment file lists the program ${listed.address}, and this is ${program}`, {
		next: "name the listed program with --program; to replace it and its vault, use --replace",
	});
}

async function readVault({ cluster, program }: DeployOptions, vault: SolanaAddress) {
	const account = await cluster.read(vault);
	return account?.owner === program ? decodeVaultAccount(account.data) : undefined;
}

/** Returns true if the vault has the configured roles, and its owner or the offer to it. */
function hasRoles(vault: VaultAccount | undefined, { config, deployer }: DeployOptions): boolean {
	const { owner, guardian, operators } = config.vault;
	const isOwned =
		vault?.owner === owner || (vault?.owner === deployer.address && vault.pendingOwner === owner);
	return isOwned && vault.guardian === guardian && isSameList(vault.operators, operators);
}

function wrongCaps<Cap extends { token: SolanaAddress; perHour: bigint }>(
	vault: VaultAccount | undefined,
	caps: readonly Cap[],
): Cap[] {
	return caps.filter(
		({ token, perHour }) => (vault?.caps.find((cap) => cap.token === token)?.perHour ?? 0n) !== perHour,
	);
}

type Step = (name: string, how: { isDone: boolean; run: () => Promise<string[]> }) => Promise<void>;

function stepper({ isDryRun, onStep }: DeployOptions): Step {
	return async (name, { isDone, run }) => {
		if (isDone) onStep({ name, outcome: "was done", signatures: [] });
		else if (isDryRun) onStep({ name, outcome: "would do", signatures: [] });
		else onStep({ name, outcome: "done", signatures: await run() });
	};
}

/** Writes the code into a buffer, then makes a program of the buffer or replaces the program's code with it. */
async function placeCode(
	{ cluster, deployer, program, programKey, code }: DeployOptions,
	step: Step,
	deployed: ProgramData | undefined,
): Promise<void> {
	if (deployed) {
		expectAuthority(deployed, deployer.address);
		const missingBytes = code.length - deployed.code.length;
		if (missingBytes > 0) {
			throw new DeployError(`the program's account is ${missingBytes} bytes too small for this code`, {
				next: `run solana program extend ${program} ${missingBytes}, then run this again`,
			});
		}
	}
	if (!deployed && programKey?.address !== program) {
		throw new DeployError(`there is no program at ${program}, and its key is not here`, {
			next: "name the key's file with --program-key",
		});
	}
	// The address follows from deployer and code, so the next run finds the same buffer.
	const seed = sha256(code).slice(2, 34);
	const buffer = await createAddressWithSeed({
		baseAddress: deployer.address,
		programAddress: programLoader,
		seed,
	});
	const space = bufferHeader + code.length;
	const found = await cluster.read(buffer);
	// Lamports alone, which anyone can send to this address, do not make a buffer.
	const written = found?.owner === programLoader && found.data[0] === 1 ? found.data : undefined;
	/** Pays what the buffer lacks of its rent. */
	const fund = async (has: bigint) => {
		const amount = (await cluster.rentOf(space)) - has;
		return amount > 0n ? [getTransferSolInstruction({ source: deployer, destination: buffer, amount })] : [];
	};
	await step(`create a buffer for ${code.length} bytes of code at ${buffer}`, {
		isDone: written !== undefined,
		run: async () => [
			await cluster.send([
				...(await fund(found?.lamports ?? 0n)),
				getAllocateWithSeedInstruction({
					newAccount: buffer,
					baseAccount: deployer,
					base: deployer.address,
					seed,
					space,
					programAddress: programLoader,
				}),
				initializeBuffer(buffer, deployer.address),
			]),
		],
	});
	const missing = chunksOf(code).filter(({ offset, bytes }) => {
		const start = bufferHeader + offset;
		return Buffer.compare(written?.subarray(start, start + bytes.length) ?? new Uint8Array(), bytes) !== 0;
	});
	await step(`write ${missing.length} of ${chunksOf(code).length} parts of the code`, {
		isDone: missing.length === 0,
		run: async () => {
			const signatures: string[] = [];
			for (let i = 0; i < missing.length; i += chunksAtOnce) {
				const some = missing.slice(i, i + chunksAtOnce);
				signatures.push(
					...(await Promise.all(
						some.map((chunk) => cluster.send([writeBuffer(buffer, deployer, chunk)], 5_000)),
					)),
				);
			}
			return signatures;
		},
	});
	await step(deployed ? `replace the code of ${program}` : `create the program ${program}`, {
		isDone: false,
		run: async () => {
			if (deployed) {
				return [await cluster.send([await upgradeProgram({ buffer, program, authority: deployer })])];
			}
			if (!programKey) throw new Error("the key was checked above");
			const lamports = await cluster.rentOf(programSize);
			const create = { payer: deployer, newAccount: programKey, lamports, space: programSize };
			return [
				await cluster.send([
					getCreateAccountInstruction({ ...create, programAddress: programLoader }),
					await deployBuffer({ buffer, program, authority: deployer, codeBytes: code.length }),
				]),
			];
		},
	});
}

/**
 * Throws for the wrong cluster. An attester's signature names its program, not its cluster, so an address must not be
 * used on two clusters.
 */
function refuseOtherClusters({ cluster, program, solana }: DeployOptions): void {
	if (cluster.genesisHash !== solana.genesisHash) {
		throw new DeployError(
			`the node is of the cluster ${cluster.genesisHash}, and the deployment file of ${solana.genesisHash}`,
			{ next: "set RPC_URL to a node of the right cluster, or name another file with --out" },
		);
	}
	const other = knownPrograms.find(
		(known) => known.program === program && known.genesisHash !== cluster.genesisHash,
	);
	if (other) {
		throw new DeployError(`${program} is the program of another cluster: ${other.cluster}`, {
			next: "make a key for this cluster with solana-keygen new, and name it with --program-key",
		});
	}
}

async function readProgram({ cluster, program }: DeployOptions): Promise<ProgramData | undefined> {
	const account = await cluster.read(program);
	if (!account) return undefined;
	const data = account.owner === programLoader && (await cluster.read(await programDataAddress(program)));
	const decoded = data ? decodeProgramData(data.data) : undefined;
	if (decoded) return decoded;
	throw new DeployError(`${program} exists and is no program`, {
		next: "use another key for the program",
	});
}

function expectAuthority(program: ProgramData | undefined, deployer: SolanaAddress): void {
	if (program?.upgradeAuthority === deployer) return;
	if (program?.upgradeAuthority === null) {
		throw new DeployError("the program is final, and its code or authority differs from the configuration", {
			next: "deploy another program, with a key of its own",
		});
	}
	throw new DeployError(
		`${program?.upgradeAuthority} may replace the program, and the deployer ${deployer} may not`,
		{
			next: "let the upgrade authority make the change",
		},
	);
}

/** Returns true if the code is these bytes and then only zeros, because anyone may lengthen a program. */
function isSameCode(code: Uint8Array, expected: Uint8Array): boolean {
	return (
		Buffer.compare(code.subarray(0, expected.length), expected) === 0 &&
		code.subarray(expected.length).every((byte) => byte === 0)
	);
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
	return one.length === other.length && one.every((value, i) => value === other[i]);
}

function chunksOf(code: Uint8Array): { offset: number; bytes: Uint8Array }[] {
	return Array.from({ length: Math.ceil(code.length / chunkBytes) }, (_, i) => {
		const offset = i * chunkBytes;
		return { offset, bytes: code.subarray(offset, offset + chunkBytes) };
	});
}

function describeCaps({ vault }: DeployConfig): string {
	return Object.entries(vault.capsPerHour)
		.map(([symbol, cap]) => `${cap} ${symbol}`)
		.join(", ");
}

function sha256(bytes: Uint8Array): Hex {
	return bytesToHex(createHash("sha256").update(bytes).digest());
}
