int djlplan_placeholder(void);
int djlplan_placeholder(void) { return 0; }
