import { join } from "node:path";
import { runCommand } from "./run-command.ts";

const root = join(import.meta.dirname, "../..");

/** The names of the local images, as the compose files read them. */
export const imageEnvironment = {
	BUILDAH_FORMAT: "docker",
	BASE_IMAGE: "localhost/geoswap-base:24",
	POSTGRES_IMAGE: "localhost/geoswap-postgres:15",
	REDIS_IMAGE: "localhost/geoswap-redis:7",
	HAPROXY_IMAGE: "localhost/geoswap-haproxy:2.6",
	RESTATE_IMAGE: "localhost/geoswap-restate:1.7.12",
	GEOSWAP_IMAGE: "localhost/geoswap:dev",
	GEOSWAP_SIGNER_IMAGE: "localhost/geoswap-signer:dev",
	GEOSWAP_DEVNET_IMAGE: "localhost/geoswap-devnet:dev",
};

/** Returns whether this machine can build and start containers, as root. */
export async function hasContainers(): Promise<boolean> {
	if (process.getuid?.() !== 0) return false;
	const programs = ["buildah", "podman", "podman-compose", "debootstrap"];
	const found = await Promise.allSettled(programs.map((program) => runCommand([program, "--version"])));
	return found.every(({ status }) => status === "fulfilled");
}

/** Makes the stand-ins that are missing. They come from Debian and npm, and do not change. */
export async function buildStandIns(): Promise<void> {
	const names = ["base", "postgres", "redis", "haproxy", "restate"];
	const images = await runCommand(["podman", "images", "--format", "{{.Repository}}"]);
	const missing = names.filter((name) => !images.includes(`localhost/geoswap-${name}\n`));
	if (missing.length > 0) await runCommand([join(root, "deploy/offline/build-images"), ...missing]);
}

/** Builds a target of deploy/Dockerfile. Layers of earlier builds are used again. */
export async function buildImage({
	target,
	tag,
}: {
	target: "geoswapd" | "geoswap-signer" | "devnet";
	tag: string;
}): Promise<void> {
	await runCommand([
		...["buildah", "build", "--layers", "--network", "host", "--format", "docker"],
		...["--build-arg", `BASE_IMAGE=${imageEnvironment.BASE_IMAGE}`],
		...["-f", join(root, "deploy/Dockerfile"), "--target", target, "-t", tag, root],
	]);
}

/** Makes another image with the contents of geoswapd's, as a release that changes nothing. */
export async function buildNextImage(tag: string): Promise<void> {
	const container = (await runCommand(["buildah", "from", imageEnvironment.GEOSWAP_IMAGE])).trim();
	await runCommand(["buildah", "config", "--label", "org.opencontainers.image.version=0.0.1", container]);
	await runCommand(["buildah", "commit", "--quiet", "--format", "docker", container, tag]);
	await runCommand(["buildah", "rm", container]);
}

/** Runs podman-compose on one of the compose files. */
export function compose(
	{ file, project }: { file: string; project: string },
	args: readonly string[],
	env: Record<string, string> = {},
): Promise<string> {
	const path = join(root, "deploy/compose", file);
	return runCommand(["podman-compose", "-p", project, "-f", path, ...args], {
		env: { ...imageEnvironment, ...env },
	});
}
