"""Digests of the sources that the hooks were written against; see `seams`.

A label may have several: one for each ansible-core that was read. When the contract test fails, read
what changed, adapt the hook where it must be, and add the digest that the test prints.
"""

READ_SOURCES: dict[str, frozenset[str]] = {
    "ansible.plugins.strategy:StrategyBase._queue_task": frozenset({"715509bf73df4ede"}),
    "ansible.plugins.strategy:StrategyBase._convert_wire_task_result_to_raw": frozenset(
        {"3d9abd14f1a5c5dd"}
    ),
    "ansible.plugins.strategy:StrategyBase._wait_on_pending_results": frozenset(
        {"2a1ce781ba697b15"}
    ),
    "ansible.plugins.strategy:results_thread_main": frozenset({"683d1b74237d0d11"}),
    "ansible.executor.process.worker:WorkerProcess.__init__": frozenset({"8526ada2265c3f20"}),
    "ansible.executor.process.worker:WorkerProcess._detach": frozenset({"49703981165fc2fc"}),
    "ansible.executor.process.worker:WorkerProcess.run": frozenset({"021ad8e34c41bbc3"}),
    "ansible.executor.process.worker:WorkerProcess._run": frozenset({"12b386ebbcda42e8"}),
    "ansible.executor.task_executor:TaskExecutor.__init__": frozenset({"2eedde78d8c17cab"}),
    "ansible.executor.task_executor:TaskExecutor.run": frozenset({"802ffe3be4facbab"}),
    "ansible.executor.task_queue_manager:FinalQueue": frozenset({"fc51898a049ac37b"}),
    "ansible.executor.task_queue_manager:TaskQueueManager.has_dead_workers": frozenset(
        {"a3fb638db82fe8fa"}
    ),
    "ansible.executor.task_queue_manager:TaskQueueManager._cleanup_processes": frozenset(
        {"7e131bf86d504190"}
    ),
    "ansible.executor.task_queue_manager:TaskQueueManager.load_callbacks": frozenset(
        {"c471baf082da9d02"}
    ),
    "ansible.plugins.action:ActionBase._execute_module": frozenset({"95e243895d5d00ec"}),
    "ansible.plugins.action:ActionBase._configure_module": frozenset({"cdc9470a03535241"}),
    "ansible.plugins.action:ActionBase._make_tmp_path": frozenset({"89cb7050f2f16583"}),
    "ansible.plugins.action:ActionBase._remove_tmp_path": frozenset({"db63c3b8611730fd"}),
    "ansible.plugins.action:ActionBase._should_remove_tmp_path": frozenset({"202a3eab7e4745d7"}),
    "ansible.plugins.action:ActionBase._update_module_args": frozenset({"ac24dbea5975d1e7"}),
    "ansible.plugins.action:ActionBase._compute_environment_string": frozenset(
        {"308849c8da4643c6"}
    ),
    "ansible.plugins.action:ActionBase._parse_returned_data": frozenset({"f28dbdbf9fed432c"}),
    "ansible.plugins.action:ActionBase._remote_expand_user": frozenset({"8e9a81cb6081a5b9"}),
    "ansible.plugins.action:ActionBase._low_level_execute_command": frozenset({"2ee58f9cc900d52f"}),
    "ansible.executor.module_common:_find_module_utils": frozenset({"fff5708bc9dc92f2"}),
    "ansible.executor.module_common:_get_shebang": frozenset({"db9194711d86beae"}),
    "ansible.executor.module_common:_is_binary": frozenset({"18a8934c7d487637"}),
    "ansible.executor.module_common:modify_module": frozenset({"be6110a0d578cf08"}),
    "ansible.module_utils._internal._ansiballz._loader:run_module": frozenset({"a265ce7cfac39eca"}),
    "ansible.module_utils._internal._ansiballz._loader:_run_module": frozenset(
        {"a3c78cfa861244b9"}
    ),
    "ansible.module_utils._internal._ansiballz._loader:_handle_exception": frozenset(
        {"5d39a2c4399d5342"}
    ),
    "ansible._internal._ansiballz._wrapper:_ansiballz_main": frozenset({"8a3a69fccdb94217"}),
    "ansible.module_utils.common.warnings:warn": frozenset({"17c6faa0f7ee4852"}),
    "ansible.module_utils.common.warnings:deprecate": frozenset({"014612f8724eaaaa"}),
    "ansible.module_utils.common.warnings:error_as_warning": frozenset({"1ad07fe0a1de0133"}),
    "ansible.module_utils._internal._traceback:_is_module_traceback_enabled": frozenset(
        {"2ebf233f98240afe"}
    ),
    "ansible.module_utils.basic:_load_params": frozenset({"b62c43f6163d661b"}),
    "ansible.module_utils.basic:AnsibleModule._return_formatted": frozenset({"f32d50afe27f138f"}),
    "ansible.utils.display:_synchronize_textiowrapper": frozenset({"a5d1fd7279d774be"}),
    "ansible.utils.display:Display.__init__": frozenset({"c65aaf44a410b916"}),
    "ansible.utils.display:Display.set_queue": frozenset({"da1fc10daa3801a8"}),
    "ansible.utils.display:Display._proxy": frozenset({"fab2793f2a7764a2"}),
    "ansible.utils.display:Display._set_column_width": frozenset({"6d78220edf8ebcbe"}),
    "ansible.utils.vars:get_unique_id": frozenset({"a239e3d0bc40e51b"}),
    "ansible.plugins.loader:_configure_collection_loader": frozenset({"d83ad3fa1fd2c97f"}),
    "ansible.plugins.loader:init_plugin_loader": frozenset({"4cdebdd69ba73a31"}),
    "ansible.plugins.loader:Jinja2Loader.get_with_context": frozenset({"8bfab145a4d41a14"}),
    "ansible.plugins.loader:Jinja2Loader._ensure_non_collection_wrappers": frozenset(
        {"3b50e3408bb6eea1"}
    ),
    "ansible._internal._templating._jinja_plugins:JinjaPluginIntercept.__getitem__": frozenset(
        {"6bae9fdf9ea29e32"}
    ),
    "ansible.plugins.connection.local:Connection.exec_command": frozenset({"90f61a2ca5f78c3a"}),
    "ansible.cli:CLI.cli_executor": frozenset({"def9b4fd0c978f45"}),
    "ansible.cli:CLI.run": frozenset({"ffef9d5497e8763d"}),
    "ansible.cli:CLI.parse": frozenset({"77609344ac7661c6"}),
    "ansible.cli.playbook:PlaybookCLI.init_parser": frozenset({"3be6c29bf8b27e0d"}),
    "ansible.cli.playbook:PlaybookCLI.run": frozenset({"66b066645b2246c2"}),
    "ansible.playbook.task:Task.copy": frozenset({"30fbc88f0b4d1dda"}),
    "ansible.config.manager:ConfigManager.get_config_value_and_origin": frozenset(
        {"df3247b322d05c4e"}
    ),
    "ansible._internal._templating._jinja_bits:AnsibleEnvironment": frozenset({"1923652efd4aadb9"}),
    "ansible._internal._templating._jinja_bits:AnsibleLexer": frozenset({"bab64f05cdc7da5f"}),
    "ansible._internal._templating._jinja_bits:AnsibleCodeGenerator": frozenset(
        {"9260f6c5c6874c2a"}
    ),
    "ansible._internal._templating._jinja_bits:TemplateOverrides": frozenset({"5e7bcd4ed22d07d5"}),
    "ansible._internal._templating._engine:TemplateEngine._compile_template": frozenset(
        {"496b3b618728d2e7"}
    ),
    "ansible._internal._templating._engine:TemplateEngine._compile_expression": frozenset(
        {"ca8a29123d129876"}
    ),
    "jinja2.environment:Environment.compile": frozenset({"c0750e96c41232af"}),
    "jinja2.environment:Environment.compile_expression": frozenset({"90cb58c515caf17b"}),
    "jinja2.environment:Environment.from_string": frozenset({"22bc71684c7399fd"}),
    "jinja2.compiler:CodeGenerator._filter_test_common": frozenset({"608a923a1414e923"}),
}
