// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {AccessManager} from "@openzeppelin/contracts/access/manager/AccessManager.sol";
import {Order} from "../../src/Order.sol";
import {IGeoEscrow} from "../../src/interfaces/IGeoEscrow.sol";
import {IGeoRoute} from "../../src/interfaces/IGeoRoute.sol";
import {Fill, IGeoVault} from "../../src/interfaces/IGeoVault.sol";
import {vm} from "./Vm.sol";

/// @dev What the tests need of GeoVault beyond its interface.
interface IVault is IGeoVault {
    function fillOne(Fill calldata item) external;
    function paused() external view returns (bool);
    function ESCROW() external view returns (address);
    function ROUTER() external view returns (address);
    function SETTLEMENT_TOKEN() external view returns (address);
    function WRAPPED_NATIVE() external view returns (address);
    function SEQUENCER_FEED() external view returns (address);
    function MAX_SLIPPAGE_BPS() external view returns (uint256);
}

/// @dev What the tests need of CctpRoute beyond its interface.
interface IRoute is IGeoRoute {
    error OnlyVault(address caller);
    error WrongToken(address token);
    error FeeTooHigh(uint256 fee, uint256 maxFee);

    function VAULT() external view returns (address);
    function MESSENGER() external view returns (address);
    function TOKEN() external view returns (address);
    function DOMAIN() external view returns (uint32);
    function RECIPIENT() external view returns (bytes32);
    function MAX_FEE_BPS() external view returns (uint256);
}

/// @dev Deploys the contracts under test with the roles that they are run with.
///
/// They are deployed by artifact, never by `new`. So their code is what is deployed in production, regardless of how
/// the tests themselves are compiled, and a planted bug takes the place of the real contract by the name of its
/// artifact.
abstract contract World {
    uint64 internal constant OPERATOR_ROLE = 1;
    uint64 internal constant GUARDIAN_ROLE = 2;
    uint64 internal constant TREASURY_ROLE = 3;
    uint64 internal constant TREASURER_ROLE = 4;
    uint64 internal constant CONFIG_ROLE = 5;
    uint64 internal constant RESUME_ROLE = 6;

    address internal constant NATIVE = address(0);

    address internal admin = _actor("admin");
    address internal operator = _actor("operator");
    address internal guardian = _actor("guardian");
    address internal treasury = _actor("treasury");
    address internal treasurer = _actor("treasurer");
    address internal config = _actor("config");
    address internal resume = _actor("resume");
    address internal stranger = _actor("stranger");

    function _deployEscrow() internal returns (IGeoEscrow) {
        return IGeoEscrow(vm.deployCode(vm.envOr("GEO_ESCROW", "GeoEscrow.sol:GeoEscrow")));
    }

    function _deployVault(AccessManager manager, IGeoEscrow escrow, address router, address stable, address wrapped)
        internal
        returns (IVault)
    {
        return _deployVault(manager, escrow, router, stable, wrapped, address(0));
    }

    function _deployVault(
        AccessManager manager,
        IGeoEscrow escrow,
        address router,
        address stable,
        address wrapped,
        address sequencerFeed
    ) internal returns (IVault vault) {
        bytes memory arguments = abi.encode(manager, escrow, router, stable, wrapped, sequencerFeed);
        vault = IVault(vm.deployCode(_vaultArtifact(), arguments));
    }

    function _vaultArtifact() internal view returns (string memory) {
        return vm.envOr("GEO_VAULT", "GeoVault.sol:GeoVault");
    }

    function _deployAccount(IGeoEscrow escrow, bool typedOnly) internal returns (address) {
        return vm.deployCode(vm.envOr("GEO_ACCOUNT", "GeoAccount.sol:GeoAccount"), abi.encode(escrow, typedOnly));
    }

    function _deployRoute(address vault, address messenger, address token, uint32 domain, bytes32 to, uint256 maxFeeBps)
        internal
        returns (IRoute)
    {
        bytes memory arguments = abi.encode(vault, messenger, token, domain, to, maxFeeBps);
        return IRoute(vm.deployCode(vm.envOr("GEO_ROUTE", "CctpRoute.sol:CctpRoute"), arguments));
    }

    function _deployManager() internal returns (AccessManager manager) {
        manager = new AccessManager(address(this));
        manager.grantRole(OPERATOR_ROLE, operator, 0);
        manager.grantRole(GUARDIAN_ROLE, guardian, 0);
        manager.grantRole(TREASURY_ROLE, treasury, 0);
        manager.grantRole(TREASURER_ROLE, treasurer, 0);
        manager.grantRole(CONFIG_ROLE, config, 0);
        manager.grantRole(RESUME_ROLE, resume, 0);
        manager.grantRole(0, admin, 0);
    }

    /// @dev Without delays, which the tests of the roles set. A function that is not named here would be the admin's.
    function _wireRoles(AccessManager manager, IVault vault) internal {
        bytes4[] memory selectors = new bytes4[](4);
        selectors[0] = IGeoVault.fill.selector;
        selectors[1] = IGeoVault.fillMany.selector;
        selectors[2] = IGeoVault.void.selector;
        selectors[3] = IGeoVault.voidMany.selector;
        manager.setTargetFunctionRole(address(vault), selectors, OPERATOR_ROLE);
        selectors = new bytes4[](1);
        selectors[0] = IGeoVault.pause.selector;
        manager.setTargetFunctionRole(address(vault), selectors, GUARDIAN_ROLE);
        selectors = new bytes4[](2);
        selectors[0] = IGeoVault.withdraw.selector;
        selectors[1] = IGeoVault.claimCredit.selector;
        manager.setTargetFunctionRole(address(vault), selectors, TREASURY_ROLE);
        selectors = new bytes4[](3);
        selectors[0] = IGeoVault.trade.selector;
        selectors[1] = IGeoVault.send.selector;
        selectors[2] = IGeoVault.bridge.selector;
        manager.setTargetFunctionRole(address(vault), selectors, TREASURER_ROLE);
        selectors = new bytes4[](2);
        selectors[0] = IGeoVault.setCap.selector;
        selectors[1] = IGeoVault.setFeed.selector;
        manager.setTargetFunctionRole(address(vault), selectors, CONFIG_ROLE);
        selectors = new bytes4[](1);
        selectors[0] = IGeoVault.unpause.selector;
        manager.setTargetFunctionRole(address(vault), selectors, RESUME_ROLE);
    }

    function _ids(Order memory order) internal pure returns (bytes32[] memory ids) {
        ids = new bytes32[](1);
        ids[0] = order.orderId();
    }

    function _ids(Order[] memory orders) internal pure returns (bytes32[] memory ids) {
        ids = new bytes32[](orders.length);
        for (uint256 i = 0; i < orders.length; ++i) {
            ids[i] = orders[i].orderId();
        }
    }

    function _actor(string memory name) internal pure returns (address) {
        return vm.addr(uint256(keccak256(bytes(name))));
    }
}
