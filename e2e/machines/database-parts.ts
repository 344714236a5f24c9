import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { findBinary, waitUntil } from "@geoswap/devnet";
import type { Machine } from "./network/machine.ts";
import { isAnswered, type Part, processOn } from "./part.ts";

const publishedFile = join(import.meta.dirname, "../../deploy/patroni.yml");
/** The user that PostgreSQL and Patroni run as. */
export const user = "postgres";
/** Patroni's ttl, and as much again for a busy machine. */
const promotedWithinMs = 60_000;

export type DatabaseParts = {
	postgres: Part[];
	etcd: Part[];
	/** The folder of the archive, which is on neither machine. */
	archive: string;
	superuser: DatabaseLogin;
	/** May copy the database, and nothing else. */
	replicator: DatabaseLogin;
};

type DatabaseLogin = { name: string; password: string };

/** Returns PostgreSQL on two machines under Patroni, with the published configuration, and its etcd on three. */
export function databaseParts({
	machines,
	folder,
	logFile,
}: {
	machines: { postgres: readonly Machine[]; etcd: readonly Machine[] };
	folder: string;
	logFile: (name: string) => string;
}): DatabaseParts {
	const archive = makeFolder(join(folder, "archive"));
	makeFolder(join(archive, "wal"));
	const passwords = Object.fromEntries(
		["SUPERUSER", "REPLICATION", "REWIND"].map((who) => [`PATRONI_${who}_PASSWORD`, newPassword()]),
	);
	const postgres = machines.postgres.map((machine): Part => {
		const { name, address } = machine;
		const own = makeFolder(join(folder, name));
		const configFile = join(own, "patroni.yml");
		writeFileSync(configFile, withPrograms(inFolders(readFileSync(publishedFile, "utf8"), { own, archive })));
		const patroni = `http://${address}:8008`;
		return {
			machine,
			processes: [
				processOn(machine, {
					name: "patroni",
					program: "patroni",
					args: [configFile],
					user,
					env: {
						...passwords,
						PATRONI_NAME: name,
						PATRONI_RESTAPI_CONNECT_ADDRESS: `${name}:8008`,
						PATRONI_POSTGRESQL_CONNECT_ADDRESS: `${name}:5432`,
					},
					logFile: logFile(name),
					isReady: () => isAnswered(`${patroni}/liveness`),
				}),
			],
			// A replica that is not synchronous could not take over.
			isWell: async () =>
				(await isAnswered(`${patroni}/primary`)) || (await isAnswered(`${patroni}/synchronous`)),
		};
	});
	const members = machines.etcd.map(({ name }) => `${name}=http://${name}:2380`).join(",");
	const etcd = machines.etcd.map((machine): Part => {
		const { name, address } = machine;
		return {
			machine,
			processes: [
				processOn(machine, {
					name: "etcd",
					program: "etcd",
					args: [
						["--name", name],
						["--data-dir", join(folder, name)],
						["--listen-peer-urls", `http://${address}:2380`],
						["--listen-client-urls", `http://${address}:2379`],
						["--initial-advertise-peer-urls", `http://${name}:2380`],
						["--advertise-client-urls", `http://${name}:2379`],
						["--initial-cluster", members],
					].flat(),
					logFile: logFile(name),
					isReady: () => isOpen(address, 2379),
				}),
			],
			isWell: () => isAnswered(`http://${address}:2379/health`),
		};
	});
	const superuser = { name: "postgres", password: passwords.PATRONI_SUPERUSER_PASSWORD ?? "" };
	const replicator = { name: "replicator", password: passwords.PATRONI_REPLICATION_PASSWORD ?? "" };
	return { postgres, etcd, archive, superuser, replicator };
}

/** Waits until one of these members is the primary by the check of its load balancers, and returns it. */
export async function untilPrimary(postgres: readonly Part[]): Promise<Part> {
	const find = async () => {
		const isPrimary = await Promise.all(
			postgres.map(({ machine }) => isAnswered(`http://${machine.address}:8008/primary`)),
		);
		return postgres[isPrimary.indexOf(true)];
	};
	let primary = await find();
	const isFound = async () => {
		primary ??= await find();
		return primary !== undefined;
	};
	const problem = () => `none is the primary: ${postgres.map(({ machine }) => machine.name).join(", ")}`;
	await waitUntil(isFound, { timeoutMs: promotedWithinMs, problem });
	return primary as Part;
}

/** Waits until another member than the lost one is the primary. */
export async function untilPromoted(postgres: readonly Part[], lost: Part): Promise<void> {
	await untilPrimary(postgres.filter((part) => part !== lost));
}

/** Returns a published text with other folders: those of one machine, and the archive. */
export function inFolders(text: string, { own, archive }: { own: string; archive: string }): string {
	return text.replaceAll("/var/lib/geoswap-archive", archive).replaceAll("/var/lib/geoswap", own);
}

/** Returns Patroni's configuration with the folder of PostgreSQL's programs. */
function withPrograms(config: string): string {
	const binaries = findBinary("pg_controldata");
	if (!binaries)
		throw new Error("PostgreSQL 15 is not installed; run apt install postgresql patroni etcd-server");
	return config.replace(/(?<=bin_dir: ).*/, dirname(realpathSync(binaries)));
}

/** Makes a folder that belongs to PostgreSQL's user. */
function makeFolder(path: string): string {
	mkdirSync(path, { recursive: true, mode: 0o700 });
	execFileSync("chown", [`${user}:${user}`, path]);
	return path;
}

export function newPassword(): string {
	return randomBytes(18).toString("base64url");
}

/** Returns whether any process listens there. */
function isOpen(host: string, port: number): Promise<boolean> {
	return new Promise((resolve) => {
		const socket = connect({ host, port, timeout: 1_000 });
		const end = (is: boolean) => {
			socket.destroy();
			resolve(is);
		};
		socket.once("connect", () => end(true));
		socket.once("timeout", () => end(false));
		socket.once("error", () => end(false));
	});
}
